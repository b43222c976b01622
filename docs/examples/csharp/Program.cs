// Looks up one address: dotnet run -- POSTCODE HUISNUMMER [TOEVOEGING]
// Wants BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and .NET 8 or newer.
using System.Net;
using System.Net.Http.Json;

var names = new[] { "postcode", "huisnummer", "toevoeging" };
var query = string.Join('&', names.Zip(args, (name, value) => $"{name}={Uri.EscapeDataString(value)}"));
using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };
client.DefaultRequestHeaders.Add("X-API-Key", Environment.GetEnvironmentVariable("BAG_ADRES_KEY"));
var url = $"{Environment.GetEnvironmentVariable("BAG_ADRES_URL")}/v1/address?{query}";

using var response = await Ask(triesLeft: 2);
if (response.StatusCode != HttpStatusCode.OK)
{
    var problem = await response.Content.ReadFromJsonAsync<Problem>();
    Console.Error.WriteLine($"{problem!.Status} {problem.Title}: {problem.Detail}");
    foreach (var fault in problem.Errors ?? []) Console.Error.WriteLine(fault.Detail);
    return 1;
}

var answer = await response.Content.ReadFromJsonAsync<Answer>();
Console.WriteLine(answer!.Status switch
{
    "ok" => Line(answer.Address!),
    "ambiguous" => "several: " + string.Join("; ", answer.Candidates.Select(Line)),
    _ => "no such address",
});
return 0;

// Asks once, and twice more when the service says that a short wait helps.
async Task<HttpResponseMessage> Ask(int triesLeft)
{
    var attempt = await client.GetAsync(url);
    var wait = attempt.Headers.RetryAfter?.Delta;
    if (attempt.IsSuccessStatusCode || triesLeft == 0 || wait is null || wait > TimeSpan.FromSeconds(30)) return attempt;
    attempt.Dispose();
    await Task.Delay(wait.Value);
    return await Ask(triesLeft - 1);
}

static string Line(Place place) => $"{place.Straat}, {place.Woonplaats}";

record Place(string Straat, string Woonplaats);
record Answer(string Status, Place? Address, Place[] Candidates);
record Fault(string Parameter, string Code, string Detail);
record Problem(string Type, string Title, int Status, string Detail, Fault[]? Errors);
