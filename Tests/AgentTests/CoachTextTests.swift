import Testing

@testable import Agent

/// What the coach reads out of a text.
struct CoachTextTests {
    struct Sample: Sendable, CustomTestStringConvertible {
        let text: String
        let expected: CoachIntent
        var testDescription: String { text }

        init(_ text: String, _ expected: CoachIntent) {
            self.text = text
            self.expected = expected
        }

        /// Logs these meals.
        init(_ text: String, _ meals: (String, Double)...) {
            self.init(text, .log(meals.map { MealReading.Meal(label: $0.0, calories: $0.1) }))
        }
    }

    @Test(arguments: oneMeal + severalMeals + arithmetic + otherNumbers + languages + labels)
    func `meals are read with their calories`(sample: Sample) {
        #expect(CoachIntent(text: sample.text) == sample.expected)
    }

    @Test(arguments: commands + goals + zones + corrections + notEaten + noNumber + odd)
    func `everything else is told apart from meals`(sample: Sample) {
        #expect(CoachIntent(text: sample.text) == sample.expected)
    }

    @Test func `a photo without a text asks, with a number it is a meal`() {
        #expect(CoachIntent(text: "", hasMedia: true) == .photo)
        #expect(CoachIntent(text: "lunch!", hasMedia: true) == .askCalories(label: "Lunch"))
        #expect(
            CoachIntent(text: "ramen 650", hasMedia: true) == .log([MealReading.Meal(label: "Ramen", calories: 650)]))
    }

    @Test func `after a question a bare number or "it was" is the answer to it`() {
        #expect(CoachIntent(text: "it was 480", isAwaitingNumber: true) == .log([.init(label: "", calories: 480)]))
        #expect(CoachIntent(text: "5", isAwaitingNumber: true) == .log([.init(label: "", calories: 5)]))
        #expect(CoachIntent(text: "5") == .askCalories(label: ""))
    }

    @Test func `any text at all is read without trouble and within bounds`() {
        var random = SystemRandomNumberGenerator()
        let scraps = [
            "1", "600", " cal", "½", "1/2", "-", "–", "x", "each", " and ", "half", ",", ".", "=", "total", "🍕", "é",
            "99999999999999999999", "0", "%", "$", "goal", "undo", "\n", "\u{0}", "to", "between", "at", ":", "k",
            "per",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...12, using: &random))
                .map { _ in (scraps.randomElement(using: &random) ?? "") + (Bool.random(using: &random) ? " " : "") }
                .joined()
            if case .log(let meals) = CoachIntent(text: text) {
                #expect(meals.allSatisfy { CoachIntent.plausibleMeal.contains($0.calories) }, "\(text)")
                #expect(meals.allSatisfy { $0.label.count <= MealReading.longestLabel + 1 }, "\(text)")
                #expect(meals.count <= CoachIntent.mostMeals)
            }
        }
        _ = CoachIntent(text: String(repeating: "600 cal and ", count: 100_000))
    }

    static let oneMeal: [Sample] = [
        Sample("just had a chicken bowl, ~600 cal", ("Chicken bowl", 600)),
        Sample("600 kcal", ("", 600)),
        Sample("600", ("", 600)),
        Sample("~600", ("", 600)),
        Sample("about 600 calories", ("", 600)),
        Sample("chicken bowl 600", ("Chicken bowl", 600)),
        Sample("Chicken bowl - 600 cal", ("Chicken bowl", 600)),
        Sample("chicken bowl (600 cal)", ("Chicken bowl", 600)),
        Sample("chicken bowl: 600", ("Chicken bowl", 600)),
        Sample("600 cal chicken bowl", ("Chicken bowl", 600)),
        Sample("600cal burrito", ("Burrito", 600)),
        Sample("had a 450 calorie sandwich", ("Sandwich", 450)),
        Sample("I ate a burger for 750 calories", ("Burger", 750)),
        Sample("350 for a latte", ("Latte", 350)),
        Sample("lunch was 620", ("Lunch", 620)),
        Sample("Lunch: 620 kcal", ("Lunch", 620)),
        Sample("lunch 600 cal chicken bowl", ("Chicken bowl", 600)),
        Sample("breakfast - oatmeal w/ berries 320", ("Breakfast oatmeal with…", 320)),
        Sample("1,200 calories", ("", 1200)),
        Sample("1.2k cal pizza", ("Pizza", 1200)),
        Sample("pasta, 1,150 cal", ("Pasta", 1150)),
        Sample("calories: 480", ("", 480)),
        Sample("kcal 300 yogurt", ("Yogurt", 300)),
        Sample("Snickers bar 250.5 cal", ("Snickers bar", 251)),
        Sample("six hundred calories", ("", 600)),
        Sample("had mac and cheese 400", ("Mac and cheese", 400)),
        Sample("chicken and rice, 540 cal", ("Chicken and rice", 540)),
        Sample("eggs, toast and bacon 450", ("Eggs, toast and bacon", 450)),
        Sample("just got home, had pasta 600", ("Pasta", 600)),
        Sample("black coffee 5 cal", ("Black coffee", 5)),
        Sample("protein shake 160 cals", ("Protein shake", 160)),
        Sample("ok so for dinner I had a steak, probably like 700 calories or so", ("Steak", 700)),
        Sample("300 burrito", ("Burrito", 300)),
        Sample("another coffee, 20 cal", ("Coffee", 20)),
        Sample("thanks! also had a banana 105", ("Banana", 105)),
        Sample("hey coach, tuna salad 380", ("Tuna salad", 380)),
        Sample("stir-fry 520 cal 🔥", ("Stir-fry", 520)),
        Sample("600 cal??", ("", 600)),
        Sample("post workout shake 300 cal", ("Post workout shake", 300)),
        Sample("10000 cal buffet", ("Buffet", 10000)),
        Sample("mint 1 cal", ("Mint", 1)),
        Sample("can of coke 139", ("Coke", 139)),
        Sample("m&ms 230", ("M&ms", 230)),
        Sample("sushi roll 300-ish", ("Sushi roll", 300)),
        Sample("about 1k calories of thai food", ("Thai food", 1000)),
        Sample("two thousand calories", ("", 2000)),
        Sample("+200", ("", 200)),
        Sample("500 cals. actually 600", ("", 600)),
        Sample("no breakfast, just coffee 5 cal", ("Coffee", 5)),
        Sample("had pizza from yesterday 400", ("Pizza from yesterday", 400)),
        Sample("600 calories. chicken bowl", ("Chicken bowl", 600)),
        Sample("not sure, maybe 500", ("", 500)),
        Sample("yes, 500", ("", 500)),
        Sample("no sugar latte 90", ("No sugar latte", 90)),
        Sample("what a day. had pizza 900", ("Pizza", 900)),
        Sample("meal plan shake 300 cal", ("Meal plan shake", 300)),
        Sample("I'm having a salad, 300 cal", ("Salad", 300)),
    ]

    static let severalMeals: [Sample] = [
        Sample("two eggs 140 and toast 90", ("Two eggs", 140), ("Toast", 90)),
        Sample("eggs 140, toast 90, juice 110", ("Eggs", 140), ("Toast", 90), ("Juice", 110)),
        Sample("breakfast 400 lunch 600 dinner 700", ("Breakfast", 400), ("Lunch", 600), ("Dinner", 700)),
        Sample("140 for eggs, 90 for toast", ("Eggs", 140), ("Toast", 90)),
        Sample("burger 550 + fries 380", ("Burger", 550), ("Fries", 380)),
        Sample("burger 550 cal\nfries 380 cal\ncoke 140 cal", ("Burger", 550), ("Fries", 380), ("Coke", 140)),
        Sample("had soup (200 cal) and bread (150 cal)", ("Soup", 200), ("Bread", 150)),
        Sample("200 cal soup and 150 cal bread", ("Soup", 200), ("Bread", 150)),
        Sample("300 & 450", ("", 300), ("", 450)),
        Sample("chicken 300, rice 200 = 500", ("Chicken", 300), ("Rice", 200)),
        Sample("chicken 300, rice 200, total 520", ("Chicken, Rice", 520)),
        Sample("ran 5k then had a shake 300 cal", ("Shake", 300)),
        Sample("skipped breakfast, lunch was 600 cal", ("Lunch", 600)),
    ]

    static let arithmetic: [Sample] = [
        Sample("2 slices of pizza at 285 each", ("2 slices of pizza", 570)),
        Sample("2 slices of pizza 285 each", ("2 slices of pizza", 570)),
        Sample("three tacos, 200 cal each", ("Three tacos", 600)),
        Sample("three tacos 200 cal each", ("Three tacos", 600)),
        Sample("3 x 150", ("", 450)),
        Sample("3x150 cal yogurt", ("Yogurt", 450)),
        Sample("2 × 200 kcal", ("", 400)),
        Sample("two 150 cal yogurts", ("Yogurts", 300)),
        Sample("3x eggs 210", ("3 eggs", 210)),
        Sample("eggs x2 70 each", ("Eggs ×2", 140)),
        Sample("a dozen wings at 90 apiece", ("Dozen wings", 1080)),
        Sample("100 cal per cookie, 3 cookies", ("3 cookies", 300)),
        Sample("500-600 cal", ("", 550)),
        Sample("500–600 kcal ramen", ("Ramen", 550)),
        Sample("between 500 and 600 cal", ("", 550)),
        Sample("500 to 600 calories", ("", 550)),
        Sample("salad 300 or 400", ("Salad", 350)),
        Sample("2-3 cookies 240 cal", ("2-3 cookies", 240)),
        Sample("half of a 600 cal burrito", ("Burrito", 300)),
        Sample("half a 600 cal burrito", ("Burrito", 300)),
        Sample("half a pizza 400", ("Half a pizza", 400)),
        Sample("1/2 of a 500 cal muffin", ("Muffin", 250)),
        Sample("a quarter of a 1200 cal pizza", ("Pizza", 300)),
        Sample("pizza slice x3 @ 285", ("Pizza slice ×3", 855)),
        Sample("just ate 3 cookies (80 cal each)", ("3 cookies", 240)),
        Sample("3/4 cup granola 300", ("¾ cup granola", 300)),
        Sample("4 eggs = 280", ("4 eggs", 280)),
        Sample("big mac meal, fries and a coke. 1100 total", ("Big mac meal, fries and…", 1100)),
        Sample("2000 kJ", ("", 478)),
    ]

    static let otherNumbers: [Sample] = [
        Sample("lunch at 7, 600 cal", ("Lunch", 600)),
        Sample("at 12:30 had soup 250", ("Soup", 250)),
        Sample("dinner at 7pm 800 cal", ("Dinner", 800)),
        Sample("200g chicken 330 cal", ("Chicken", 330)),
        Sample("330 cal for 200 g of chicken", ("Chicken", 330)),
        Sample("250 ml milk 160 kcal", ("Milk", 160)),
        Sample("2% milk 120 cal", ("Milk", 120)),
        Sample("bar 210 cal 20g protein 9g fat", ("Bar", 210)),
        Sample("$12 salad 450 cal", ("Salad", 450)),
        Sample("24 nuggets 1000 cal", ("24 nuggets", 1000)),
        Sample("no dressing, salad 300 cal", ("Salad", 300)),
        Sample("2 cups of rice 410", ("2 cups of rice", 410)),
        Sample("met at 5:30 pm, ate 600", ("Met", 600)),
        Sample("calories 300 and protein 20g", ("", 300)),
        Sample("woke up at 6 had 2 eggs 140", ("2 eggs", 140)),
        Sample("around 8 I had soup 300", ("Soup", 300)),
        Sample("120 g rice and 200g chicken, 500 cal total", ("Rice and chicken", 500)),
        Sample("salad 300 cal and 2 eggs 70 each", ("Salad", 300), ("2 eggs", 140)),
    ]

    static let languages: [Sample] = [
        Sample("Hähnchen 450 kcal", ("Hähnchen", 450)),
        Sample("1.200 kcal", ("", 1200)),
        Sample("ensalada 350 calorías", ("Ensalada", 350)),
        Sample("борщ 300 ккал", ("Борщ", 300)),
        Sample("拉面600大卡", ("拉面", 600)),
        Sample("ラーメン 600 カロリー", ("ラーメン", 600)),
        Sample("비빔밥 550 칼로리", ("비빔밥", 550)),
        Sample("pâtes 480 kcal et salade 120 kcal", ("Pâtes", 480), ("Salade", 120)),
        Sample("Brot 200 und Käse 150", ("Brot", 200), ("Käse", 150)),
    ]

    static let labels: [Sample] = [
        Sample("Big Mac 590", ("Big Mac", 590)),
        Sample(
            "slow roasted vegetable lasagna with extra cheese 700", ("Slow roasted vegetable…", 700)),
        Sample("Donaudampfschifffahrtsgesellschaftstorte 400", ("Donaudampfschifffahrtsges…", 400)),
    ]

    static let commands: [Sample] = [
        Sample("undo", .undo), Sample("Undo!", .undo), Sample("scratch that", .undo), Sample("delete that", .undo),
        Sample("remove the last one", .undo), Sample("cancel", .undo),
        Sample("can you undo that please", .undo), Sample("oops, undo", .undo),
        Sample("remove the pizza", .remove("pizza")),
        Sample("delete all", .clear), Sample("reset", .clear), Sample("start over", .clear),
        Sample("how am I doing?", .status), Sample("How am I doing today", .status), Sample("status", .status),
        Sample("what's left?", .status), Sample("how many calories do I have left?", .status),
        Sample("how many calories have I eaten?", .status), Sample("what’s my streak?", .status),
        Sample("am I on track?", .status),
        Sample("what did I eat", .list), Sample("What have I eaten today?", .list), Sample("show my meals", .list),
        Sample("help", .help), Sample("?", .help), Sample("what can you do?", .help),
        Sample("hi", .greeting), Sample("Hello!", .greeting), Sample("good morning coach", .greeting),
        Sample("hey there 👋", .greeting),
        Sample("thanks!", .thanks), Sample("thank you so much", .thanks), Sample("ok", .thanks),
        Sample("STOP", .optOut), Sample("CANCEL", .optOut), Sample("Opt out", .optOut), Sample(" optout\n", .optOut),
    ]

    static let goals: [Sample] = [
        Sample("goal 2100", .setGoal(2100)), Sample("Goal: 2,100", .setGoal(2100)),
        Sample("set my goal to 2,000", .setGoal(2000)), Sample("my goal is 1800 kcal", .setGoal(1800)),
        Sample("change goal to 2.2k", .setGoal(2200)),
        Sample("set my daily calorie goal to 2100 please", .setGoal(2100)),
        Sample("I want my goal to be 1900", .setGoal(1900)), Sample("goal 50", .setGoal(50)),
        Sample("what's my goal?", .tellGoal), Sample("goal", .tellGoal),
    ]

    static let zones: [Sample] = [
        Sample("my timezone is Europe/Berlin", .setTimeZone("Europe/Berlin")),
        Sample("timezone america/new_york", .setTimeZone("America/New_York")),
        Sample("I'm in Tokyo", .setTimeZone("Asia/Tokyo")),
        Sample("I'm in New York now", .setTimeZone("America/New_York")),
        Sample("moved to San Francisco", .setTimeZone("America/Los_Angeles")),
        Sample("set my time zone to PST", .setTimeZone("America/Los_Angeles")),
        Sample("timezone Atlantis", .unknownTimeZone("atlantis")),
        Sample("in paris now", .setTimeZone("Europe/Paris")), Sample("I'm in bed", .other),
    ]

    static let corrections: [Sample] = [
        Sample("actually 500", .correct(calories: 500, label: "")),
        Sample("Actually, 500 cal", .correct(calories: 500, label: "")),
        Sample("actually it was 480", .correct(calories: 480, label: "")),
        Sample("make that 450", .correct(calories: 450, label: "")),
        Sample("no, 550", .correct(calories: 550, label: "")),
        Sample("sorry, 650", .correct(calories: 650, label: "")),
        Sample("it was 480", .correct(calories: 480, label: "")),
        Sample("that was 300 not 400", .correct(calories: 300, label: "")),
        Sample("change it to 300", .correct(calories: 300, label: "")),
        Sample("i meant 700", .correct(calories: 700, label: "")),
        Sample("should be 430 cal", .correct(calories: 430, label: "")),
        Sample("actually it was a burrito, 700", .correct(calories: 700, label: "Burrito")),
        Sample("only ate half", .scale(0.5)), Sample("I just had half of it", .scale(0.5)),
    ]

    static let notEaten: [Sample] = [
        Sample("no lunch today", .skipped), Sample("skipped breakfast", .skipped),
        Sample("didn't eat anything", .skipped), Sample("I haven't eaten yet", .skipped),
        Sample("didn't eat the 500 cal cake", .skipped),
        Sample("nothing today", .skipped), Sample("yesterday I had 2000", .yesterday),
        Sample("what did I eat yesterday", .yesterday),
        Sample("burned 300 cal running", .exercise), Sample("ran 5 km, burned 400 cal", .exercise),
        Sample("should I have a 400 cal dessert?", .consider(400)),
        Sample("can I eat a 900 cal pizza?", .consider(900)),
        Sample("gonna have a 500 cal dinner", .consider(500)),
        Sample("how many calories in a bagel?", .consider(nil)),
    ]

    static let noNumber: [Sample] = [
        Sample("had a burrito", .askCalories(label: "Burrito")), Sample("burrito", .askCalories(label: "Burrito")),
        Sample("had 2 eggs", .askCalories(label: "2 eggs")),
        Sample("dinner was great", .askCalories(label: "Dinner was great")),
        Sample("I weigh 80 kg", .other), Sample("at 7", .other), Sample("80 kg", .other), Sample("7pm", .other),
        Sample("100g rice", .askCalories(label: "Rice")),
        Sample("my number is 555-123-4567", .other), Sample("2026-02-05", .other), Sample("12/25", .other),
        Sample("gym at 6", .other), Sample("u there?", .other),
        Sample("I feel tired today", .other), Sample("my weight is 80", .other), Sample("I'm 35", .other),
        Sample("I don't feel well", .other), Sample("walked 10000 steps", .exercise),
        Sample("call me at 5551234567", .other),
    ]

    static let odd: [Sample] = [
        Sample("", .other), Sample("   ", .other), Sample("👍", .emoji), Sample("🍕🍕", .emoji), Sample("!!!", .emoji),
        Sample("50000 cal", .implausible(50000)), Sample("12,345 kcal", .implausible(12345)),
        Sample("-200 cal", .implausible(-200)),
        Sample("water 0 cal", .nothing), Sample("coke zero, 0 kcal", .nothing),
    ]
}
