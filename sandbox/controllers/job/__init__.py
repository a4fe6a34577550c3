"""The Job controller: pods until enough of them have ended well."""
