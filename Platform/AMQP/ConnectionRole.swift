/// What a connection is used for.
///
/// All of it runs on the connection's thread.
protocol ConnectionRole: AnyObject {
    /// The connection is there and the topology is right.
    func opened(_ connection: Connection) throws(AMQPError)

    func handle(_ event: BrokerEvent, _ connection: Connection) throws(AMQPError)

    /// Does what other threads asked for and what time demands; returns when to be called again at the latest.
    func turn(_ connection: Connection, _ now: Double) throws(AMQPError) -> Double?

    /// The connection is gone; whatever was on its way over it has an unknown fate.
    func disconnected(_ reason: String)

    /// Called now and then, and after a wake-up, while there is no connection.
    func turnOffline()

    /// Whether nothing is left to do before the connection may be closed.
    var isIdle: Bool { get }
}
