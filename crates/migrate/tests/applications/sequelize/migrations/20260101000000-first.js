const { tables } = require("../models");

module.exports = {
  async up(queryInterface) {
    for (const [name, columns] of Object.entries(tables)) await queryInterface.createTable(name, columns);
    await queryInterface.addIndex("Fields", ["moment", "string"], { name: "fields_moment" });
  },
  async down(queryInterface) {
    for (const name of Object.keys(tables).reverse()) await queryInterface.dropTable(name);
  },
};
