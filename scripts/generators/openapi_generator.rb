# Volumes by the Ruby client that openapi-generator makes.
require "json"
require "uri"
require "roost_client"

url = URI(ENV.fetch("ROOST_URL"))
RoostClient.configure do |config|
  config.server_index = nil
  config.scheme = url.scheme
  config.host = "#{url.host}:#{url.port}"
  config.access_token = ENV.fetch("ROOST_TOKEN")
end
volumes = RoostClient::VolumesApi.new

def check(holds)
  holds or raise "not as expected"
end

made = volumes.create_volume(RoostClient::CreateVolume.new(label: "ruby", region: "us-lake"))
page = volumes.list_volumes(x_filter: JSON.generate(label: { "+contains": "rub" }))
check(page.data.map(&:id) == [made.id])
check(volumes.view_volume(made.id).size == 20)
volumes.delete_volume(made.id)
begin
  volumes.view_volume(made.id)
  check(false)
rescue RoostClient::ApiError => error
  check(error.code == 404)
  check(JSON.parse(error.response_body)["errors"][0]["reason"] == "Not found")
end
puts "openapi-generator, Ruby: ok"
