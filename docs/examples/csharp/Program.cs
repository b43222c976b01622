// Looks up one address: dotnet run -- POSTCODE HUISNUMMER [TOEVOEGING]
// Requires BAG_ADRES_URL and BAG_ADRES_KEY in the environment, and .NET 8 or newer.
using System.Net;
using System.Net.Http.Json;
using System.Text.Json;
using System.Text.RegularExpressions;

// A file with the key often ends with a line end.
var baseUrl = Environment.GetEnvironmentVariable("BAG_ADRES_URL")?.Trim();
var key = Environment.GetEnvironmentVariable("BAG_ADRES_KEY")?.Trim();
if (string.IsNullOrEmpty(baseUrl) || string.IsNullOrEmpty(key)) return Fail("Set BAG_ADRES_URL and BAG_ADRES_KEY.");
if (!Regex.IsMatch(key, @"^bagadres_[A-Za-z0-9_.-]+\z")) return Fail("BAG_ADRES_KEY is not an API key.");
if (!Uri.TryCreate(baseUrl, UriKind.Absolute, out _)) return Fail("BAG_ADRES_URL is not a URL.");
var names = new[] { "postcode", "huisnummer", "toevoeging" };
var query = string.Join('&', names.Zip(args, (name, value) => $"{name}={Uri.EscapeDataString(value)}"));
// A redirect would take the key along.
using var client = new HttpClient(new HttpClientHandler { AllowAutoRedirect = false }) { Timeout = TimeSpan.FromSeconds(10) };
client.DefaultRequestHeaders.Add("X-API-Key", key);
var url = $"{baseUrl.TrimEnd('/')}/v1/address?{query}";

using var response = await Send(triesLeft: 2, pause: TimeSpan.FromSeconds(1));
if (response is null) return Fail("no response: check BAG_ADRES_URL and the connection");
var status = (int)response.StatusCode;
try
{
    if (status != 200)
    {
        var problem = await response.Content.ReadFromJsonAsync<Problem>() ?? throw new JsonException();
        // API Gateway's own refusals have only a message.
        var first = problem.Title is null ? problem.Message : $"{problem.Title}: {problem.Detail}";
        var faults = (problem.Errors ?? []).Select(fault => fault.Detail);
        return Fail(string.Join('\n', faults.Prepend($"{status} {first}")));
    }
    var answer = await response.Content.ReadFromJsonAsync<Answer>() ?? throw new JsonException();
    Console.WriteLine(answer.Status switch
    {
        "ok" => Line(answer.Address!),
        "ambiguous" => "several: " + string.Join("; ", answer.Candidates.Select(Line)),
        _ => NotFound(answer.Toevoegingen!),
    });
    return 0;
}
catch (Exception error) when (error is JsonException or HttpRequestException or IOException or NotSupportedException)
{
    return Fail($"{status}, and no valid response: check BAG_ADRES_URL");
}

// Prints fixed texts and those of the service only: an exception of HttpClient can contain the key.
static int Fail(string message)
{
    Console.Error.WriteLine(message);
    return 1;
}

// Retries twice: on 429 and 503 after Retry-After, on 500 or no response after a growing pause.
async Task<HttpResponseMessage?> Send(int triesLeft, TimeSpan pause)
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
        if (triesLeft == 0) return null;
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
