import java.sql.DriverManager;

/** JDBC, by the drivers of PostgreSQL and of SQLite. */
class JdbcClient {
    public static void main(String[] arguments) throws Exception {
        try (var connection = DriverManager.getConnection(System.getenv("JDBC_URL"));
                var rows = connection.createStatement().executeQuery("SELECT count(*) FROM item")) {
            rows.next();
            if (rows.getInt(1) != 3) {
                throw new IllegalStateException("rows: " + rows.getInt(1));
            }
        }
    }
}
