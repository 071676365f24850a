-- From version 2 to 3: the tables of people belong to the schema; they were made on first use.
CREATE TABLE IF NOT EXISTS key_expiries (
    key_id integer NOT NULL PRIMARY KEY REFERENCES api_keys (id),
    expires_at bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS accounts (
    id integer NOT NULL PRIMARY KEY,
    name varchar(64) NOT NULL UNIQUE,
    password_hash varchar(255) NOT NULL,
    created_at bigint NOT NULL
);
CREATE TABLE IF NOT EXISTS sessions (
    token_hash varchar(64) NOT NULL PRIMARY KEY,
    account_id integer NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
    created_at bigint NOT NULL,
    expires_at bigint NOT NULL
);
UPDATE schema_version SET version = 3;
