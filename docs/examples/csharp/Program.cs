// Looks up one address: dotnet run -- POSTCODE HUISNUMMER [TOEVOEGING]
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and .NET 8 or newer.
using System.Net;
using System.Net.Http.Json;

var baseUrl = Environment.GetEnvironmentVariable("BAG_ADRES_URL");
var key = Environment.GetEnvironmentVariable("BAG_ADRES_KEY");
if (string.IsNullOrEmpty(baseUrl) || string.IsNullOrEmpty(key))
{
    Console.Error.WriteLine("Set BAG_ADRES_URL and BAG_ADRES_KEY.");
    return 1;
}
var names = new[] { "postcode", "huisnummer", "toevoeging" };
var query = string.Join('&', names.Zip(args, (name, value) => $"{name}={Uri.EscapeDataString(value)}"));
using var client = new HttpClient { Timeout = TimeSpan.FromSeconds(10) };
client.DefaultRequestHeaders.Add("X-API-Key", key);
var url = $"{baseUrl.TrimEnd('/')}/v1/address?{query}";

using var response = await Send(triesLeft: 2, pause: TimeSpan.FromSeconds(1));
if (response.StatusCode != HttpStatusCode.OK)
{
    var problem = await response.Content.ReadFromJsonAsync<Problem>();
    // API Gateway's own refusals have only a message.
    var first = problem!.Title is null ? problem.Message : $"{problem.Title}: {problem.Detail}";
    Console.Error.WriteLine($"{(int)response.StatusCode} {first}");
    foreach (var fault in problem.Errors ?? []) Console.Error.WriteLine(fault.Detail);
    return 1;
}

var answer = await response.Content.ReadFromJsonAsync<Answer>();
Console.WriteLine(answer!.Status switch
{
    "ok" => Line(answer.Address!),
    "ambiguous" => "several: " + string.Join("; ", answer.Candidates.Select(Line)),
    _ => NotFound(answer.Toevoegingen!),
});
return 0;

// Retries twice: on 429 and 503 after Retry-After, on 500 or no response after a growing pause.
async Task<HttpResponseMessage> Send(int triesLeft, TimeSpan pause)
{
    var wait = pause;
    try
    {
        var attempt = await client.GetAsync(url);
        wait = attempt.Headers.RetryAfter?.Delta ?? pause;
        var isFinal = triesLeft == 0 || (int)attempt.StatusCode is not (429 or 500 or 503);
        if (isFinal || wait > TimeSpan.FromSeconds(30)) return attempt;
        attempt.Dispose();
    }
    catch (Exception error) when (error is HttpRequestException or TaskCanceledException)
    {
        if (triesLeft == 0)
        {
            Console.Error.WriteLine($"no response: {error.Message}");
            Environment.Exit(1);
        }
    }
    await Task.Delay(wait);
    return await Send(triesLeft - 1, 2 * pause);
}

static string NotFound(string?[] toevoegingen)
{
    var existing = string.Join(", ", toevoegingen.Select(one => one ?? "none"));
    return existing == "" ? "no such address" : $"no such address; existing toevoegingen: {existing}";
}

static string Line(Place place) => $"{place.Straat}, {place.Woonplaats}";

record Place(string Straat, string Woonplaats);
record Answer(string Status, Place? Address, Place[] Candidates, string?[]? Toevoegingen);
record Fault(string Parameter, string Code, string Detail);
record Problem(string? Title, string? Detail, Fault[]? Errors, string? Message);
