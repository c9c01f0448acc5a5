// Volumes by the Go client that openapi-generator makes.
package main

import (
	"context"
	"fmt"
	"os"

	"roost/client"
)

func check(holds bool) {
	if !holds {
		panic("not as expected")
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("ROOST_URL")}}
	volumes := client.NewAPIClient(configuration).VolumesAPI
	ctx := context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("ROOST_TOKEN"))

	wanted := client.NewCreateVolume("go")
	wanted.SetRegion("us-lake")
	made, _, err := volumes.CreateVolume(ctx).CreateVolume(*wanted).Execute()
	must(err)
	page, _, err := volumes.ListVolumes(ctx).XFilter(`{"label": {"+contains": "go"}}`).Execute()
	must(err)
	check(len(page.Data) == 1 && page.Data[0].Id == made.Id)
	seen, _, err := volumes.ViewVolume(ctx, made.Id).Execute()
	must(err)
	check(seen.Size == 20)
	_, _, err = volumes.DeleteVolume(ctx, made.Id).Execute()
	must(err)
	_, answer, err := volumes.ViewVolume(ctx, made.Id).Execute()
	check(err != nil && answer.StatusCode == 404)
	refusal := err.(*client.GenericOpenAPIError).Model().(client.ErrorBody)
	check(refusal.Errors[0].Reason == "Not found")
	fmt.Println("openapi-generator, Go: ok")
}
