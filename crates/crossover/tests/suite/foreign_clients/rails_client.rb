# Active Record, as Rails connects by DATABASE_URL.
require 'active_record'

ActiveRecord::Base.establish_connection(ENV.fetch('RAILS_URL'))
connection = ActiveRecord::Base.connection
count = connection.select_value('SELECT count(*) FROM item')
raise "rows: #{count}" unless count == 3
