// A column of each type that Sequelize has for both databases, and each kind of relation. Migrations and models take
// the columns from here.
const { Sequelize, DataTypes } = require("sequelize");

const key = (type = DataTypes.INTEGER) => ({ type, primaryKey: true, autoIncrement: type === DataTypes.INTEGER, allowNull: false });
const to = (model, type, onDelete = "CASCADE") => ({ type, references: { model, key: "id" }, onDelete });
const moments = { createdAt: { type: DataTypes.DATE, allowNull: false }, updatedAt: { type: DataTypes.DATE, allowNull: false } };

const tables = {
  Fields: {
    id: key(), string: { type: DataTypes.STRING(60), allowNull: false, unique: true }, plain: DataTypes.STRING, char: DataTypes.CHAR(5),
    text: DataTypes.TEXT, integer: DataTypes.INTEGER, big: DataTypes.BIGINT, small: DataTypes.SMALLINT,
    float: DataTypes.FLOAT, real: DataTypes.REAL, double: DataTypes.DOUBLE, price: { type: DataTypes.DECIMAL(12, 2), allowNull: false },
    yes: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: true }, perhaps: DataTypes.BOOLEAN, moment: DataTypes.DATE,
    precise: DataTypes.DATE(6), day: DataTypes.DATEONLY, clock: DataTypes.TIME, uuid: { type: DataTypes.UUID, unique: true },
    json: DataTypes.JSON, blob: DataTypes.BLOB, size: DataTypes.ENUM("small", "large"), state: { type: DataTypes.STRING(10), defaultValue: "new" },
    deletedAt: DataTypes.DATE, ...moments,
  },
  People: { id: key(DataTypes.UUID), name: DataTypes.STRING, bossId: to("People", DataTypes.UUID, "SET NULL"), ...moments },
  Teams: { id: key(), "Team Name": { type: DataTypes.STRING, unique: true } },
  Memberships: { TeamId: { ...to("Teams", DataTypes.INTEGER), primaryKey: true }, PersonId: { ...to("People", DataTypes.UUID), primaryKey: true }, since: DataTypes.DATEONLY },
  Empties: { id: key(), name: DataTypes.STRING },
};

function open() {
  const config = require("./config/config").development;
  const sequelize = config.use_env_variable ? new Sequelize(process.env.DATABASE_URL, config) : new Sequelize(config);
  const models = {};
  for (const [tableName, columns] of Object.entries(tables)) {
    const timestamps = "createdAt" in columns;
    models[tableName] = sequelize.define(tableName, columns, { tableName, timestamps, paranoid: "deletedAt" in columns });
  }
  const { People, Teams, Memberships } = models;
  People.belongsToMany(Teams, { through: Memberships, foreignKey: "PersonId", otherKey: "TeamId" });
  Teams.belongsToMany(People, { through: Memberships, foreignKey: "TeamId", otherKey: "PersonId" });
  People.belongsTo(People, { as: "boss", foreignKey: "bossId" });
  return { sequelize, ...models };
}

module.exports = { tables, open };
