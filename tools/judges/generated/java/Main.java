import client.ApiClient;
import client.ApiException;
import client.api.AddressesApi;
import client.model.AddressAmbiguous;
import client.model.AddressFound;
import client.model.AddressNotFound;
import client.model.Place;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Scanner;
import java.util.stream.Collectors;

/**
 * Looks up the addresses of standard input with a generated client and prints what it makes of each response. A line has
 * the key, postcode, huisnummer, toevoeging and include, separated by tabs.
 */
class Main {
  public static void main(String[] args) throws Exception {
    for (var lines = new Scanner(System.in); lines.hasNextLine(); ) {
      var fields = lines.nextLine().split("\t", -1);
      var client = new ApiClient();
      client.updateBaseUri(args[0] + "/v1");
      client.setRequestInterceptor(request -> request.header("X-API-Key", fields[0]));
      var toevoeging = fields[3].isEmpty() ? null : fields[3];
      var include = fields[4].isEmpty() ? null : new LinkedHashSet<>(List.of(fields[4].split(",")));
      try {
        var answer = new AddressesApi(client).lookUpAddress(fields[1], Integer.valueOf(fields[2]), toevoeging, include);
        System.out.println(describe(answer.getActualInstance()));
      } catch (ApiException problem) {
        System.out.println(new ObjectMapper().readTree(problem.getResponseBody()).get("title").asText());
      }
    }
  }

  private static String describe(Object outcome) {
    if (outcome instanceof AddressFound) return describe(((AddressFound) outcome).getAddress());
    if (outcome instanceof AddressNotFound) return "no such address";
    return ((AddressAmbiguous) outcome).getCandidates().stream().map(Main::describe).collect(Collectors.joining("; "));
  }

  private static String describe(Place place) {
    var text = place.getStraat() + ", " + place.getWoonplaats();
    var ids = place.getNummeraanduidingen();
    return ids == null || ids.isEmpty() ? text : text + ", " + String.join(", ", ids);
  }
}
