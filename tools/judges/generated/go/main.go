// Looks up the addresses of standard input with a generated client and prints what it makes of each response. A line
// has the key, postcode, huisnummer, toevoeging and include, separated by tabs.
package main

import (
	"bag-adres-judge/api"
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		huisnummer, _ := strconv.Atoi(fields[2])
		params := &api.LookUpAddressParams{Postcode: fields[1], Huisnummer: huisnummer}
		if fields[3] != "" {
			params.Toevoeging = &fields[3]
		}
		if fields[4] != "" {
			var include []api.LookUpAddressParamsInclude
			for _, name := range strings.Split(fields[4], ",") {
				include = append(include, api.LookUpAddressParamsInclude(name))
			}
			params.Include = &include
		}
		withKey := api.WithRequestEditorFn(func(_ context.Context, request *http.Request) error {
			request.Header.Set("X-API-Key", fields[0])
			return nil
		})
		client, err := api.NewClientWithResponses(os.Args[1]+"/v1", withKey)
		if err != nil {
			panic(err)
		}
		response, err := client.LookUpAddressWithResponse(context.Background(), params)
		if err != nil {
			panic(err)
		}
		fmt.Println(describe(response))
	}
}

func describe(response *api.LookUpAddressResponse) string {
	switch {
	case response.ApplicationproblemJSON401 != nil:
		return string(response.ApplicationproblemJSON401.Title)
	case response.ApplicationproblemJSON422 != nil:
		return string(response.ApplicationproblemJSON422.Title)
	case response.JSON200 == nil:
		return response.Status()
	}
	answer, err := response.JSON200.ValueByDiscriminator()
	if err != nil {
		return err.Error()
	}
	switch outcome := answer.(type) {
	case api.AddressFound:
		return describePlace(outcome.Address)
	case api.AddressAmbiguous:
		var places []string
		for _, place := range outcome.Candidates {
			places = append(places, describePlace(place))
		}
		return strings.Join(places, "; ")
	case api.AddressNotFound:
		return "no such address"
	}
	return "unknown outcome"
}

func describePlace(place api.Place) string {
	text := place.Straat + ", " + place.Woonplaats
	if place.Nummeraanduidingen != nil {
		text += ", " + strings.Join(*place.Nummeraanduidingen, ", ")
	}
	return text
}
