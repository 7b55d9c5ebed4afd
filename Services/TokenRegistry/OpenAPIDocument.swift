/// The description of the HTTP interface, served at `/openapi.json`; `infra/openapi` keeps the same.
enum OpenAPIDocument {
    static let text = #"""
        {
          "openapi": "3.1.0",
          "info": {
            "title": "Isthmus token registry", "version": "1",
            "description": "Whose handle, device, push token and Live Activity is whose. Called by the iOS app with \#
        the user's own sign-in token, and by the customer's server with a backend key. A user's token reaches only \#
        its own user's paths; every other path answers 404, whether that user exists or not."
          },
          "security": [{"backendKey": []}, {"userToken": []}],
          "paths": {
            "/v1/users/{userID}": {
              "parameters": [
                {
                  "name": "userID", "in": "path", "required": true,
                  "description": "The customer's own id of the user; the `sub` of their token.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                }
              ],
              "get": {
                "operationId": "getUser", "summary": "Everything known of a user, tokens shortened (backend only)",
                "responses": {
                  "200": {
                    "description": "The user.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/User"}}}
                  },
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"}, "404": {"$ref": \#
        "#/components/responses/NotFound"},
                  "429": {"$ref": "#/components/responses/TooMany"}, "503": {"$ref": \#
        "#/components/responses/Unavailable"}
                }
              },
              "delete": {
                "operationId": "eraseUser", "summary": "Erase a user and all that is theirs (backend only)",
                "responses": {
                  "204": {"description": "Done; the other services know it."},
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"}, "404": {"$ref": \#
        "#/components/responses/NotFound"},
                  "429": {"$ref": "#/components/responses/TooMany"}, "503": {"$ref": \#
        "#/components/responses/Unavailable"}
                }
              }
            },
            "/v1/users/{userID}/handles": {
              "parameters": [
                {
                  "name": "userID", "in": "path", "required": true,
                  "description": "The customer's own id of the user; the `sub` of their token.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                }
              ],
              "put": {
                "operationId": "putHandles", "summary": "Say which handles are the user's",
                "description": "With a backend key these are all the handles that the user has. With a user's token \#
        they are added, and each must be the token's own `phone_number` or `email` with `phone_number_verified` or \#
        `email_verified` true. A handle that was another user's is theirs no more.",
                "requestBody": {
                  "required": true, "content": {"application/json": {"schema": {"$ref": \#
        "#/components/schemas/Handles"}}}
                },
                "responses": {
                  "204": {"description": "Done; the other services know it."},
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "403": {"$ref": "#/components/responses/Forbidden"}, "404": {"$ref": \#
        "#/components/responses/NotFound"},
                  "413": {"$ref": "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/UnsupportedType"},
                  "429": {"$ref": "#/components/responses/TooMany"}, "503": {"$ref": \#
        "#/components/responses/Unavailable"}
                }
              }
            },
            "/v1/users/{userID}/devices/{deviceID}/start-token": {
              "parameters": [
                {
                  "name": "userID", "in": "path", "required": true,
                  "description": "The customer's own id of the user; the `sub` of their token.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                },
                {
                  "name": "deviceID", "in": "path", "required": true,
                  "description": "The app's id of its installation on this device.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                }
              ],
              "put": {
                "operationId": "putStartToken", "summary": "Register the push-to-start token of a kind of activity",
                "description": "To be repeated at each launch. A token that was registered for another user or \#
        device leaves it.",
                "requestBody": {
                  "required": true, "content": {"application/json": {"schema": {"$ref": \#
        "#/components/schemas/StartToken"}}}
                },
                "responses": {
                  "204": {"description": "Done; the other services know it."},
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "404": {"$ref": "#/components/responses/NotFound"}, "413": {"$ref": \#
        "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/UnsupportedType"},
                  "429": {"$ref": "#/components/responses/TooMany"}, "503": {"$ref": \#
        "#/components/responses/Unavailable"}
                }
              }
            },
            "/v1/users/{userID}/devices/{deviceID}/activities": {
              "parameters": [
                {
                  "name": "userID", "in": "path", "required": true,
                  "description": "The customer's own id of the user; the `sub` of their token.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                },
                {
                  "name": "deviceID", "in": "path", "required": true,
                  "description": "The app's id of its installation on this device.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                }
              ],
              "put": {
                "operationId": "reconcileActivities",
                "summary": "At launch: say which activities run, and hear which of them to end",
                "requestBody": {
                  "required": true, "content": {"application/json": {"schema": {"$ref": \#
        "#/components/schemas/Running"}}}
                },
                "responses": {
                  "200": {
                    "description": "Those of `running` that the app should end.",
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/End"}}}
                  },
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "404": {"$ref": "#/components/responses/NotFound"}, "413": {"$ref": \#
        "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/UnsupportedType"},
                  "429": {"$ref": "#/components/responses/TooMany"}, "503": {"$ref": \#
        "#/components/responses/Unavailable"}
                }
              }
            },
            "/v1/users/{userID}/devices/{deviceID}/activities/{activityID}": {
              "parameters": [
                {
                  "name": "userID", "in": "path", "required": true,
                  "description": "The customer's own id of the user; the `sub` of their token.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                },
                {
                  "name": "deviceID", "in": "path", "required": true,
                  "description": "The app's id of its installation on this device.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                },
                {
                  "name": "activityID", "in": "path", "required": true, "description": "ActivityKit's id of the \#
        activity.",
                  "schema": {"$ref": "#/components/schemas/Identifier"}
                }
              ],
              "put": {
                "operationId": "putActivity", "summary": "Register a running activity and its update token",
                "description": "To be repeated whenever ActivityKit gives a new token. `sessionID` is that of the \#
        activity's attributes; an activity that the app started by itself has none.",
                "requestBody": {
                  "required": true, "content": {"application/json": {"schema": {"$ref": \#
        "#/components/schemas/Activity"}}}
                },
                "responses": {
                  "204": {"description": "Done; the other services know it."},
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "404": {"$ref": "#/components/responses/NotFound"}, "413": {"$ref": \#
        "#/components/responses/TooLarge"},
                  "415": {"$ref": "#/components/responses/UnsupportedType"},
                  "429": {"$ref": "#/components/responses/TooMany"}, "503": {"$ref": \#
        "#/components/responses/Unavailable"}
                }
              },
              "delete": {
                "operationId": "deleteActivity", "summary": "Say that an activity is gone",
                "parameters": [
                  {
                    "name": "reason", "in": "query", "required": true,
                    "description": "`dismissed`: the user swiped it away, which holds until the next session. \#
        `ended`: the app or the system ended it.",
                    "schema": {"type": "string", "enum": ["dismissed", "ended"]}
                  },
                  {
                    "name": "sessionID", "in": "query", "required": false,
                    "description": "That of the activity's attributes: needed if the activity was never registered.",
                    "schema": {"$ref": "#/components/schemas/Identifier"}
                  }
                ],
                "responses": {
                  "204": {"description": "Done; the other services know it."},
                  "400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": \#
        "#/components/responses/Unauthorized"},
                  "404": {"$ref": "#/components/responses/NotFound"}, "429": {"$ref": \#
        "#/components/responses/TooMany"},
                  "503": {"$ref": "#/components/responses/Unavailable"}
                }
              }
            },
            "/openapi.json": {
              "get": {
                "operationId": "getDescription", "summary": "This document", "security": [],
                "responses": {
                  "200": {"description": "OpenAPI 3.1.", "content": {"application/json": {"schema": {"type": \#
        "object"}}}}
                }
              }
            }
          },
          "components": {
            "securitySchemes": {
              "backendKey": {"type": "http", "scheme": "bearer", "description": "One of REGISTRY_BACKEND_KEYS."},
              "userToken": {
                "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                "description": "The customer's own sign-in: ES256, RS256 or EdDSA by a key of \#
        REGISTRY_JWT_KEYS_FILE, with iss, aud, sub and exp; at most 4096 bytes."
              }
            },
            "responses": {
              "Invalid": {
                "description": "The request is not valid; `pointer` says where, `expected` what belongs there.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "Unauthorized": {
                "description": "No credential, or one that is not taken.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                "headers": {"WWW-Authenticate": {"schema": {"type": "string"}}}
              },
              "Forbidden": {
                "description": "The credential does not allow this call.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "NotFound": {
                "description": "There is nothing here for this credential.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "TooLarge": {
                "description": "The body has more than 16384 bytes.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "UnsupportedType": {
                "description": "The body is not declared as JSON.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
              },
              "TooMany": {
                "description": "Too many calls for this user.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                "headers": {"Retry-After": {"schema": {"type": "integer"}}}
              },
              "Unavailable": {
                "description": "Try again.",
                "content": {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
                "headers": {"Retry-After": {"schema": {"type": "integer"}}}
              }
            },
            "schemas": {
              "Identifier": {
                "type": "string", "minLength": 1, "maxLength": 128, "pattern": "^[^\\u0000-\\u001F\\u007F-\\u009F]+$",
                "description": "1 to 128 characters, none of them a control character."
              },
              "Token": {
                "type": "string", "pattern": "^([0-9A-Fa-f]{2}){8,256}$",
                "description": "A push token in hexadecimal, of whatever length Apple gives it."
              },
              "Environment": {
                "type": "string", "enum": ["production", "sandbox"],
                "description": "Of the app's `aps-environment`; learned when left out."
              },
              "Handles": {
                "type": "object", "required": ["handles"],
                "properties": {
                  "handles": {
                    "type": "array", "maxItems": 20,
                    "items": {
                      "type": "string", "maxLength": 254,
                      "pattern": "^(\\+[ ().-]*[1-9]([ ().-]*[0-9]){6,14}[ \#
        ().-]*|[!-*,-?A-~][!-?A-~]{0,63}@[!-?A-~]{1,189})$",
                      "description": "A phone number in E.164, or an e-mail address."
                    }
                  }
                },
                "example": {"handles": ["+12025559876", "sam@example.com"]}
              },
              "StartToken": {
                "type": "object", "required": ["attributesType", "token"],
                "properties": {
                  "attributesType": {"$ref": "#/components/schemas/Identifier"},
                  "token": {"$ref": "#/components/schemas/Token"},
                  "environment": {"anyOf": [{"$ref": "#/components/schemas/Environment"}, {"type": "null"}]},
                  "bundleID": {"anyOf": [{"$ref": "#/components/schemas/Identifier"}, {"type": "null"}]},
                  "wantsInputPushToken": {
                    "type": ["boolean", "null"],
                    "description": "Whether a start should ask for an update token (`input-push-token`, iOS 18)."
                  }
                },
                "example": {
                  "attributesType": "CoachAttributes", "token": "80a1b2c3d4e5f60718293a4b5c6d7e8f",
                  "environment": "production"
                }
              },
              "Activity": {
                "type": "object", "required": ["attributesType", "token"],
                "properties": {
                  "attributesType": {"$ref": "#/components/schemas/Identifier"},
                  "token": {"$ref": "#/components/schemas/Token"},
                  "sessionID": {"anyOf": [{"$ref": "#/components/schemas/Identifier"}, {"type": "null"}]},
                  "environment": {"anyOf": [{"$ref": "#/components/schemas/Environment"}, {"type": "null"}]},
                  "bundleID": {"anyOf": [{"$ref": "#/components/schemas/Identifier"}, {"type": "null"}]},
                  "startedAt": {
                    "type": ["string", "null"], "format": "date-time",
                    "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt \#
        ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]+)?([Zz]|[+-][0-9]{2}:[0-9]{2})$"
                  }
                },
                "example": {
                  "attributesType": "CoachAttributes", "token": "80a1b2c3d4e5f60718293a4b5c6d7e8f", "sessionID": "s-1"
                }
              },
              "Running": {
                "type": "object", "required": ["running"],
                "properties": {
                  "running": {"type": "array", "maxItems": 50, "items": {"$ref": "#/components/schemas/Identifier"}}
                },
                "example": {"running": ["6F1C"]}
              },
              "End": {
                "type": "object", "required": ["end"], "properties": {"end": {"type": "array", "items": {"type": \#
        "string"}}}
              },
              "User": {
                "type": "object", "required": ["userID", "generation", "handles", "devices"],
                "properties": {
                  "userID": {"type": "string"}, "generation": {"type": "integer"}, "canonicalHandle": {"type": \#
        "string"},
                  "handles": {"type": "array", "items": {"type": "string"}},
                  "devices": {
                    "type": "array",
                    "items": {
                      "type": "object", "required": ["deviceID", "startTokens", "activities"],
                      "properties": {
                        "deviceID": {"type": "string"},
                        "startTokens": {
                          "type": "array",
                          "items": {
                            "type": "object",
                            "required": ["attributesType", "token", "wantsInputPushToken", "registeredAt"],
                            "properties": {
                              "attributesType": {"type": "string"}, "token": {"type": "string", "maxLength": 8},
                              "environment": {"$ref": "#/components/schemas/Environment"}, "bundleID": {"type": \#
        "string"},
                              "wantsInputPushToken": {"type": "boolean"},
                              "registeredAt": {"type": "string", "format": "date-time"}
                            }
                          }
                        },
                        "activities": {
                          "type": "array",
                          "items": {
                            "type": "object",
                            "required": ["attributesType", "generation", "state", "registeredAt", "startedAt"],
                            "properties": {
                              "attributesType": {"type": "string"}, "activityID": {"type": "string"},
                              "sessionID": {"type": "string"}, "generation": {"type": "integer"},
                              "state": {"type": "string", "description": "starting, live, dismissed or ended"},
                              "token": {"type": "string", "maxLength": 8},
                              "environment": {"$ref": "#/components/schemas/Environment"}, "bundleID": {"type": \#
        "string"},
                              "registeredAt": {"type": "string", "format": "date-time"},
                              "startedAt": {"type": "string", "format": "date-time"}
                            }
                          }
                        }
                      }
                    }
                  }
                }
              },
              "Problem": {
                "type": "object", "required": ["status", "title"],
                "properties": {
                  "type": {"type": "string"}, "status": {"type": "integer"}, "title": {"type": "string"},
                  "detail": {"type": "string"},
                  "pointer": {"type": "string", "description": "A JSON pointer into the body, or the name of a \#
        parameter."},
                  "expected": {"type": "string"}
                }
              }
            }
          }
        }

        """#
}
