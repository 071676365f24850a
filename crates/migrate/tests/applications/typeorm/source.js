// A column of each type that TypeORM has for both databases, and each kind of relation.
const { DataSource, EntitySchema } = require("typeorm");

const url = process.env.DATABASE_URL;
const type = url.startsWith("sqlite:") ? "better-sqlite3" : "postgres";
const [moment, bytes, double] = type === "postgres" ? ["timestamptz", "bytea", "double precision"] : ["datetime", "blob", "double"];

const nullable = (type, more) => ({ type, nullable: true, ...more });
const key = { type: "int", primary: true, generated: true };

const Field = new EntitySchema({
  name: "Field",
  columns: {
    id: key, name: { type: "varchar", length: 60, unique: true }, text: nullable("text"), plain: nullable(String), integer: nullable("int"), small: nullable("smallint"),
    big: nullable("bigint"), price: { type: "decimal", precision: 12, scale: 2 }, ratio: nullable(double), real: nullable("real"), yes: { type: Boolean, default: true },
    perhaps: nullable("boolean"), moment: { type: moment }, momentOrNone: nullable(moment), day: nullable("date"), clock: nullable("time"), uuid: { type: "uuid", generated: "uuid" },
    uuidOrNone: nullable("uuid", { unique: true }), json: nullable("simple-json"), list: nullable("simple-array"), size: { type: "simple-enum", enum: ["small", "large"], default: "small" },
    blob: nullable(bytes), state: { type: "varchar", length: 10, default: "new" }, since: { type: moment, createDate: true }, edited: { type: moment, updateDate: true },
    gone: nullable(moment, { deleteDate: true }), version: { type: "int", version: true },
  },
  indices: [{ name: "field_moment", columns: ["moment", "name"] }],
  checks: [{ name: "price_not_negative", expression: '"price" >= 0' }],
});

const Person = new EntitySchema({
  name: "Person",
  tableName: "people",
  columns: { id: { type: "uuid", primary: true, generated: "uuid" }, fullName: { type: "varchar", name: "Full Name" } },
  relations: {
    boss: { type: "many-to-one", target: "Person", nullable: true, onDelete: "SET NULL", joinColumn: true },
    teams: { type: "many-to-many", target: "Team", joinTable: true },
  },
});

const Team = new EntitySchema({ name: "Team", columns: { id: key, name: { type: "varchar", unique: true } } });

const Profile = new EntitySchema({
  name: "Profile",
  columns: { id: key, about: { type: "text" } },
  relations: { person: { type: "one-to-one", target: "Person", joinColumn: true, onDelete: "CASCADE" } },
});

const Line = new EntitySchema({
  name: "Line",
  columns: { document: { type: "int", primary: true }, number: { type: "int", primary: true }, text: nullable("varchar") },
});

const Empty = new EntitySchema({ name: "Empty", columns: { id: key, name: nullable("varchar") } });

const entities = [Field, Person, Team, Profile, Line, Empty];
const where = type === "postgres" ? { url } : { database: url.replace("sqlite:///", "") };
module.exports = new DataSource({ type, ...where, entities, migrations: [`${type}/*.js`] });
