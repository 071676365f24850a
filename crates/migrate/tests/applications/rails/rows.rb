# `fill`: projects, issues, people. `read`: all rows. `change`: of tables of each kind a row inserted, one edited, one
# deleted. `sign-in`: a person, who opens pages and writes an issue.
Rails.application.eager_load!
ActionMailer::Base.perform_deliveries = false

MOMENT = Time.utc(2026, 3, 29, 1, 30, 0, 123_456)

def person(login)
  user = User.new(firstname: login.capitalize, lastname: "O'Härä", mail: "#{login}@example.org", language: "en")
  user.login, user.password, user.password_confirmation = login, "secret of #{login}", "secret of #{login}"
  user.admin = login == "ann"
  user.save!
  user
end

def issue(project, author, number)
  Issue.create!(
    project: project, author: author, tracker: project.trackers[number % project.trackers.size], subject: "Issue #{number} Straße",
    description: ["", "日本語 \\ 'quoted'", nil, "x" * 5000][number % 4], priority: IssuePriority.all[number % 5], status: IssueStatus.all[number % 3],
    start_date: Date.new(2024, 2, 1) + number, due_date: number.odd? ? Date.new(2024, 2, 29) + number : nil, estimated_hours: [nil, 0.1, 2.5][number % 3],
    is_private: number % 5 == 0, done_ratio: 10 * (number % 10), custom_field_values: { CustomField.find_by(name: "Weight").id => (number % 7).to_s }
  )
end

def fill
  ann, bob = person("ann"), person("bob")
  User.current = ann
  IssueCustomField.create!(name: "Weight", field_format: "int", is_for_all: true, is_filter: true, tracker_ids: Tracker.pluck(:id))
  projects = %w[one two].map do |name|
    project = Project.create!(name: name, identifier: "project-#{name}", is_public: name == "one", tracker_ids: Tracker.pluck(:id))
    Member.create!(project: project, principal: bob, roles: [Role.givable.first])
    project.enabled_module_names = %w[issue_tracking time_tracking news documents files wiki boards]
    project
  end
  child = Project.create!(name: "child", identifier: "child", tracker_ids: Tracker.pluck(:id))
  child.set_parent!(projects.first)
  project = projects.first
  project.versions.create!(name: "1.0", effective_date: Date.new(2024, 2, 29))
  (1..40).each { |number| issue(projects[number % 2], [ann, bob][number % 2], number) }
  Issue.find(3).update!(parent_issue_id: 1)
  noted = Issue.find(4)
  noted.init_journal(bob, "a note")
  noted.update!(status: IssueStatus.last)
  IssueRelation.create!(issue_from: Issue.find(5), issue_to: Issue.find(7), relation_type: "blocks")
  Issue.find(39).destroy
  Issue.find(40).destroy
  Issue.find(6).watcher_users << bob
  TimeEntry.create!(project: project, issue: Issue.find(2), user: bob, author: bob, hours: 1.25, spent_on: Date.new(2024, 2, 29), activity: TimeEntryActivity.first)
  News.create!(project: project, author: ann, title: "news", description: "text")
  Attachment.create!(container: Issue.find(8), file: StringIO.new("text"), filename: "text.txt", author: ann)
  wiki = project.wiki || Wiki.create!(project: project, start_page: "Wiki")
  page = WikiPage.create!(wiki: wiki, title: "Wiki")
  page.save_with_content(WikiContent.new(page: page, text: "h1. Wiki", author: ann))
  page.save_with_content(page.reload.content.tap { |content| content.text = "h1. Wiki again" })
  board = Board.create!(project: project, name: "board", description: "of a project")
  message = Message.create!(board: board, subject: "message", content: "text", author: bob)
  Message.create!(board: board, subject: "answer", content: "text", author: ann, parent: message)
  IssueQuery.create!(name: "mine", user: ann, project: project, filters: { "status_id" => { operator: "o", values: [""] } }, column_names: [:id, :subject])
  IssueCategory.create!(project: project, name: "category", assigned_to: bob)
  Setting.app_title = "Redmine of the proof"
  ann.pref.update!(time_zone: "Berlin")
  EmailAddress.create!(user: bob, address: "second@example.org")
end

# By the models that Rails makes of every table, the application's own where it has one.
def models
  own = ActiveRecord::Base.descendants.reject(&:abstract_class?).select { |model| model.base_class == model }.index_by(&:table_name)
  (ActiveRecord::Base.connection.tables.sort - %w[ar_internal_metadata]).map do |table|
    own[table] || Class.new(ActiveRecord::Base) { self.table_name = table; self.inheritance_column = nil }
  end
end

# What the clock gives to changes, and what is drawn by chance.
CHANGING = %w[created_on updated_on closed_on last_login_on passwd_changed_on value hashed_password salt]

def told(value)
  value = value.utc.iso8601(9) if value.respond_to?(:utc)
  [value.class.name, value.is_a?(Float) ? value : value.to_s]
end

def read(whole)
  models.each do |model|
    next if !whole && model.table_name == "tokens"
    columns = model.column_names.sort - (whole ? [] : CHANGING)
    rows = model.unscoped.to_a.map { |row| columns.to_h { |name| [name, told(row[name])] }.to_json }
    rows.sort.each { |row| puts "#{model.table_name} #{row.gsub(',"', ', "')}" }
  end
end

def change
  ann, bob = User.find_by_login("ann"), User.find_by_login("bob")
  User.current = ann
  project = Project.find("project-one")
  added = issue(project, ann, 100)
  Group.create!(lastname: "issue #{added.id}")
  edited = Issue.find(1)
  edited.init_journal(ann, "edited")
  edited.update!(subject: "edited", is_private: !edited.is_private, estimated_hours: 0.3, due_date: Date.new(2026, 1, 1), start_date: nil)
  Issue.find(5).destroy
  person("new")
  bob.update!(firstname: "edited")
  bob.email_addresses.where(is_default: false).destroy_all
  Project.create!(name: "new", identifier: "newer", tracker_ids: Tracker.pluck(:id)).set_parent!(project)
  Project.find("child").destroy
  Member.create!(project: project, principal: User.find_by_login("new"), roles: Role.givable.to_a)
  Version.create!(project: project, name: "2.0")
  TimeEntry.create!(project: project, issue: added, user: bob, author: bob, hours: 0.75, spent_on: Date.new(2026, 1, 1), activity: TimeEntryActivity.first)
  TimeEntry.first.destroy
  News.first.update!(title: "edited")
  News.create!(project: project, author: ann, title: "new", description: "text").comments.create!(author: bob, content: "comment")
  board = Board.first
  Message.create!(board: board, subject: "new", content: "text", author: bob)
  Message.find_by(subject: "answer").destroy
  page = WikiPage.create!(wiki: project.wiki, title: "New")
  page.save_with_content(WikiContent.new(page: page, text: "new", author: ann))
  Attachment.first.destroy
  IssueCategory.first.update!(name: "edited")
  Role.create!(name: "new", permissions: [:view_issues])
  IssueStatus.create!(name: "new", is_closed: true)
  Tracker.create!(name: "new", default_status: IssueStatus.first)
  IssueQuery.first.update!(name: "edited", filters: { "subject" => { operator: "~", values: ["Stra"] } })
  [Issue.where(is_private: true), Issue.where("due_date < ?", Date.new(2024, 3, 10)), Issue.open, Issue.where(estimated_hours: 2.5),
   Issue.where("start_date >= ?", Date.new(2024, 2, 20))].each { |found| Group.create!(lastname: "#{found.count} issues #{found.pluck(:id).sort.sum}") }
end

def sign_in
  visitor = ActionDispatch::Integration::Session.new(Rails.application)
  visitor.host! "localhost"
  token = lambda { visitor.response.body[/name="authenticity_token" value="([^"]+)"/, 1] }
  post = lambda { |address, values|
    visitor.post(address, params: values.merge(authenticity_token: CGI.unescapeHTML(token.call.to_s)))
    visitor.response.status
  }
  get = lambda { |address, wanted = 200|
    visitor.get(address)
    raise "#{address}: #{visitor.response.status}" unless visitor.response.status == wanted
    visitor.response.body
  }
  get.call("/projects/project-two", 302)
  get.call("/login")
  raise "a wrong password signs in" unless post.call("/login", username: "ann", password: "wrong") == 200
  raise "no sign-in" unless post.call("/login", username: "ann", password: "secret of ann") == 302
  ["/my/page", "/projects/project-two", "/issues", "/projects/project-one/wiki", "/projects/project-one/issues?set_filter=1&sort=due_date:desc", "/users",
   "/time_entries", "/projects/project-one/roadmap", "/search?q=Issue", "/projects/project-one/boards/1"].each { |address| get.call(address) }
  get.call("/projects/project-one/issues/new")
  raise "no issue" unless post.call("/projects/project-one/issues", issue: { tracker_id: 1, subject: "written in the browser", priority_id: IssuePriority.first.id }) == 302
  raise "no issue" unless Issue.find_by(subject: "written in the browser")
end

case ARGV[0]
when "fill" then fill
when "read" then read(ARGV[1] != "changed")
when "change" then change
when "sign-in" then sign_in
end
