/// The words that tell calories from times, weights and counts, all in lower case.
enum MealWords {
    static let calorieUnits: Set<String> = [
        "cal", "cals", "kcal", "kcals", "calorie", "calories", "kilocalorie", "kilocalories", "kalorien", "kalorie",
        "calorías", "calorias", "caloría", "caloria", "calorie's", "kalorier", "calorieën", "calorieen", "kkal",
        "ккал", "калорий", "калории", "kalorii", "kalori", "大卡", "千卡", "卡路里", "カロリー", "キロカロリー", "칼로리",
        "سعرة", "कैलोरी", "แคลอรี่",
    ]
    static let kilojoules: Set<String> = ["kj", "kilojoule", "kilojoules"]
    /// A number before one of these is no calories, and neither is a count of food.
    static let measures: Set<String> = [
        "kg", "kgs", "kilo", "kilos", "g", "gr", "gram", "grams", "gramm", "mg", "oz", "ounce", "ounces", "lb", "lbs",
        "pound", "pounds", "ml", "cl", "dl", "l", "liter", "liters", "litre", "litres", "km", "kms", "mile", "miles",
        "mi", "m", "min", "mins", "minute", "minutes", "hour", "hours", "hr", "hrs", "day", "days", "week", "weeks",
        "month", "months", "year", "years", "steps", "cm", "inch", "inches", "ft", "degrees", "reps", "sets",
        "people", "bucks", "dollars", "euros", "percent",
    ]
    static let nutrients: Set<String> = [
        "protein", "carbs", "carb", "carbohydrates", "fat", "fats", "fiber", "fibre", "sugar", "sugars", "sodium",
        "net",
    ]
    static let clock: Set<String> = ["am", "pm", "a.m", "p.m", "o'clock", "oclock", "uhr"]
    /// "at 7": a small number after one of these is a time.
    static let beforeTime: Set<String> = ["at", "by", "since", "until", "till", "before", "after", "from", "around"]
    static let rangeWords: Set<String> = ["to", "or", "bis"]
    static let connectives: Set<String> = ["and", "plus", "then", "but", "und", "y", "et"]
    static let fractions: [String: Double] = ["half": 0.5, "quarter": 0.25, "third": 1.0 / 3]
    static let each: Set<String> = ["each", "apiece", "per", "ea"]
    static let totals: Set<String> = ["total", "totals", "totaling", "totalling", "altogether", "sum"]
    /// After a number they begin something new: the number does not count them.
    static let afterAmount: Set<String> = [
        "for", "and", "with", "each", "apiece", "per", "total", "in", "at", "today", "or", "i", "was", "so", "this",
        "but", "then", "plus", "altogether", "ish", "probably", "maybe", "tonight", "yesterday", "please", "from",
        "of", "on", "thanks", "it", "is", "right", "now", "again", "too",
    ]
    static let negations: Set<String> = [
        "didn't", "didnt", "haven't", "havent", "skipped", "skip", "skipping", "without", "never", "hadn't", "don't",
        "dont", "wasn't", "won't", "not", "nothing",
    ]
    static let mealNames: Set<String> = [
        "breakfast", "brunch", "lunch", "dinner", "supper", "snack", "snacks", "dessert", "meal", "food",
    ]
    static let exercise: Set<String> = [
        "burned", "burnt", "burning", "ran", "jogged", "walked", "cycled", "swam", "biked", "hiked",
    ]
    static let eating: Set<String> = [
        "had", "ate", "eat", "eaten", "eating", "having", "drank", "drinking", "grabbed", "finished", "devoured",
        "snacked", "tried", "log", "logged", "cooked", "ordered",
    ]
    static let past: Set<String> = ["had", "ate", "drank", "grabbed", "finished", "devoured", "was"]
    static let future: Set<String> = ["gonna", "planning", "might", "will", "i'll", "tomorrow", "later"]
    /// A number near one of these is about something else.
    static let notFood: Set<String> = [
        "weigh", "weight", "weighed", "weighs", "bpm", "pulse", "age", "aged", "born", "steps", "temperature", "room",
        "flight", "street", "code", "pin", "zip", "meeting", "appointment", "alarm", "height", "bmi", "gym", "phone",
    ]

    static let aboutEating = eating.union(mealNames).union(["nothing"])

    /// Words that stand around the name of a meal and are no part of it.
    static let filler: Set<String> = eating.union([
        "i", "i've", "ive", "i'm", "im", "just", "have", "has", "a", "an", "the", "some", "my", "our", "for", "was",
        "were", "is", "it", "it's", "its", "that", "that's", "this", "these", "of", "about", "around", "roughly",
        "approx", "approximately", "circa", "ca", "maybe", "like", "probably", "so", "um", "uh", "well", "ok", "okay",
        "hey", "hi", "hello", "coach", "add", "please", "pls", "today", "tonight", "now", "got", "get", "another",
        "at", "with", "morning", "afternoon", "evening", "night", "me", "also", "then", "came", "to", "track", "only",
        "on", "in", "from", "home", "lol", "haha", "we", "did", "you", "can", "could", "think", "guess", "say",
        "change", "fix", "edit", "reset",
        "says", "label", "packet", "between", "up", "where", "which", "there", "almost", "nearly", "exactly", "yes",
        "yeah", "yep", "ish", "been", "are", "be", "too", "more", "one", "because", "actually", "sorry", "wait",
        "thanks", "thank", "thx", "full",
        "correction", "meant", "mean", "make", "should", "nope", "not", "total", "all", "altogether",
    ])
}
