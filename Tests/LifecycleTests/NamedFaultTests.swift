import Testing

@testable import APNSPusher
@testable import Agent
@testable import Simulator
@testable import TokenRegistry

@Suite struct `Faults met in the field` {}
