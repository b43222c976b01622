/** Text for HTML, in an element or a quoted attribute. */
export function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

/** Code that can be scrolled to with the keyboard, and copied; `caption` and `code` are HTML. */
export function sample(caption: string, code: string, { kind = '', id = '' } = {}): string {
  return `<figure class="sample ${kind}"><figcaption>${caption}</figcaption><pre tabindex="0"><code${id && ` id="${id}"`}>${code}</code></pre></figure>\n`;
}

/**
 * The programs for a lookup, shown one at a time without a script, in print all; `legend` is HTML.
 */
export function programTabs(legend: string, url: string): string {
  const programs = lookupSamples(url).map(
    ({ label, source }, index) =>
      `<input type="radio" name="program" id="program-${index}"${index === 0 ? ' checked' : ''}><label for="program-${index}">${label}</label>
<div class="panel">${sample(label, escaped(source), { kind: 'program' })}</div>`,
  );
  return `<fieldset class="tabs"><legend>${legend}</legend>\n${programs.join('\n')}\n</fieldset>\n`;
}

/**
 * The shortest program for a lookup in each language, with the key in the environment; it fails on
 * a refusal.
 */
export function lookupSamples(url: string): { label: string; source: string }[] {
  return [
    {
      label: 'curl',
      source: `curl --fail-with-body -H "X-API-Key: $BAG_ADRES_KEY" \\
  "${url}"`,
    },
    {
      label: 'JavaScript',
      source: `const url = '${url}';
const headers = { 'X-API-Key': (process.env.BAG_ADRES_KEY ?? '').trim() };

const response = await fetch(url, { headers });
if (!response.ok) throw new Error(await response.text());
const answer = await response.json();
if (answer.status === 'ok') console.log(answer.address.straat);`,
    },
    {
      label: 'Python',
      source: `import json, os, sys, urllib.error, urllib.request

url = "${url}"
headers = {"X-API-Key": os.environ["BAG_ADRES_KEY"].strip()}

request = urllib.request.Request(url, headers=headers)
try:
    with urllib.request.urlopen(request, timeout=10) as response:
        answer = json.load(response)
except urllib.error.HTTPError as error:
    sys.exit(error.read().decode())
if answer["status"] == "ok":
    print(answer["address"]["straat"])`,
    },
    {
      label: 'PHP',
      source: `<?php
$key = trim(getenv('BAG_ADRES_KEY'));
$http = ['header' => "X-API-Key: $key", 'ignore_errors' => true];
$context = stream_context_create(['http' => $http]);
$body = file_get_contents('${url}', false, $context);
$answer = json_decode($body, true);
if (!isset($answer['request'])) {
    throw new RuntimeException($body);
}
if ($answer['status'] === 'ok') {
    echo $answer['address']['straat'];
}`,
    },
    {
      label: 'Java',
      source: `import java.net.URI;
import java.net.http.*;

class Lookup {
  public static void main(String[] args) throws Exception {
    var url = URI.create("${url}");
    var request = HttpRequest.newBuilder(url)
        .header("X-API-Key", System.getenv("BAG_ADRES_KEY").strip())
        .build();
    var response = HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200)
      throw new RuntimeException(response.body());
    System.out.println(response.body());
  }
}`,
    },
    {
      label: 'Go',
      source: `package main

import (
	"io"
	"log"
	"net/http"
	"os"
)

func main() {
	url := "${url}"
	request, _ := http.NewRequest("GET", url, nil)
	request.Header.Set("X-API-Key", os.Getenv("BAG_ADRES_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		log.Fatalln(string(body), err)
	}
	os.Stdout.Write(body)
}`,
    },
    {
      label: 'C#',
      source: `using System.Text.Json.Nodes;

var key = Environment.GetEnvironmentVariable("BAG_ADRES_KEY")?.Trim();
using var client = new HttpClient();
client.DefaultRequestHeaders.Add("X-API-Key", key);

var url = "${url}";
using var response = await client.GetAsync(url);
var body = await response.Content.ReadAsStringAsync();
if (!response.IsSuccessStatusCode) throw new Exception(body);
var answer = JsonNode.Parse(body)!;
if ((string?)answer["status"] == "ok")
    Console.WriteLine(answer["address"]!["straat"]);`,
    },
  ];
}
