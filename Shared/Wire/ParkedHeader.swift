/// The AMQP headers of a message that was parked, and of one that came back from there.
public enum ParkedHeader {
    /// Why it could not be worked.
    public static let reason = "isthmus-reason"
    /// The service that has put it aside.
    public static let service = "isthmus-service"
    /// The queue that it came from; absent if it has not been in one.
    public static let queue = "isthmus-queue"
    /// When a person put it back, seconds since 1970: its own time limit begins anew.
    public static let replayedAt = "isthmus-replayed-at"

    public static let all: Set<String> = [reason, service, queue, replayedAt]
}
