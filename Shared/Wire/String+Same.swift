extension String {
    /// Whether both are the same bytes, as ids are compared.
    ///
    /// `==` also takes texts for equal that Unicode calls equivalent: an "é" in one piece and one in two.
    public func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}
