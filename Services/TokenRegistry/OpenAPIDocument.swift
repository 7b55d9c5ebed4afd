/// The description of the HTTP interface, served at `/openapi.json`: the file in `infra/openapi`, put into the program.
enum OpenAPIDocument {
    static let bytes = PackageResources.token_registry_json
}
