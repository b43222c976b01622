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

/** A request that a sample sends, and its use of the answer. */
export type SampleRequest = {
  url: string;
  /** Indented JSON, for a POST. */
  body?: string;
  /** A member that every answer to this request has, and no refusal. */
  answered: string;
  does: Use;
};

/**
 * A program prints the street if an address was found, a member, a member from each item in a list,
 * or the faults in a refusal.
 */
type Use =
  | { prints: 'straat' }
  | { prints: 'member'; member: string }
  | { prints: 'each'; list: string; member: string }
  | { prints: 'faults' };

/** A lookup whose program prints the street. */
export const lookupRequest = (url: string): SampleRequest => {
  return { url, answered: 'request', does: { prints: 'straat' } };
};

/** The languages of the programs, in their order. */
const programs: { label: string; source: (request: SampleRequest) => string }[] = [
  { label: 'curl', source: curl },
  { label: 'JavaScript', source: javaScript },
  { label: 'Python', source: python },
  { label: 'PHP', source: php },
  { label: 'Java', source: java },
  { label: 'Go', source: go },
  { label: 'C#', source: cSharp },
];

/**
 * The choice of a language for every sample of the page. It works without a script, by the rules of
 * `programStyle`; `legend` is HTML.
 */
export function programChoice(legend: string): string {
  const choices = programs.map(
    ({ label }, index) =>
      `<input type="radio" name="program" id="program-${index}"${index === 0 ? ' checked' : ''}><label for="program-${index}">${label}</label>`,
  );
  return `<div class="tabs" role="radiogroup" aria-labelledby="programs"><span id="programs">${legend}</span>\n${choices.join('\n')}\n</div>\n`;
}

/** The program for a request in each language. The page shows the chosen one. */
export function programSamples(request: SampleRequest): string {
  const samples = programSources(request).map(
    ({ label, source }, index) =>
      `<div class="program-${index}">${sample(label, escaped(source), { kind: 'request' }).trim()}</div>`,
  );
  return `<div class="programs">\n${samples.join('\n')}\n</div>\n`;
}

/** The rules that show the programs in the chosen language. A browser without `:has` shows all. */
export const programStyle: string = [
  '@supports selector(:has(a)){.programs>*{display:none}}',
  ...programs.map(
    (_, index) => `body:has(#program-${index}:checked) .program-${index}{display:block}`,
  ),
].join('');

/**
 * The shortest program for a request in each language, with the key in the environment; it fails on
 * a refusal, with its text.
 */
export function programSources(request: SampleRequest): { label: string; source: string }[] {
  return programs.map(({ label, source }) => ({ label, source: source(request) }));
}

function curl({ url, body }: SampleRequest): string {
  const lines = [
    'curl --fail-with-body -H "X-API-Key: $BAG_ADRES_KEY"',
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"']),
    `"${url}"`,
    ...(body === undefined ? [] : [`-d '${body}'`]),
  ];
  return lines.join(' \\\n  ');
}

function javaScript({ url, body, does }: SampleRequest): string {
  const key = "(process.env.BAG_ADRES_KEY ?? '').trim()";
  const before =
    body === undefined
      ? `const headers = { 'X-API-Key': ${key} };`
      : `const headers = {
  'X-API-Key': ${key},
  'Content-Type': 'application/json',
};
const body = JSON.stringify(${body});`;
  const options = body === undefined ? '{ headers }' : "{ method: 'POST', headers, body }";
  return `const url = '${url}';
${before}

const response = await fetch(url, ${options});
${javaScriptUse(does)}`;
}

function javaScriptUse(does: Use): string {
  const answer = `if (!response.ok) throw new Error(await response.text());
const answer = await response.json();
`;
  switch (does.prints) {
    case 'straat':
      return `${answer}if (answer.status === 'ok') console.log(answer.address.straat);`;
    case 'member':
      return `${answer}console.log(answer.${does.member});`;
    case 'each':
      return `${answer}for (const one of answer.${does.list}) console.log(one.${does.member});`;
    case 'faults':
      return `if (response.status === 422) {
  const { errors } = await response.json();
  for (const { code, detail } of errors) console.log(code, detail);
} else if (!response.ok) throw new Error(await response.text());`;
  }
}

function python({ url, body, does }: SampleRequest): string {
  const key = 'os.environ["BAG_ADRES_KEY"].strip()';
  const request =
    body === undefined
      ? `headers = {"X-API-Key": ${key}}

request = urllib.request.Request(url, headers=headers)`
      : `headers = {
    "X-API-Key": ${key},
    "Content-Type": "application/json",
}
body = json.dumps(${body})

request = urllib.request.Request(url, body.encode(), headers)`;
  return `import json, os, sys, urllib.error, urllib.request

url = "${url}"
${request}
try:
    with urllib.request.urlopen(request, timeout=10) as response:
        answer = json.load(response)
except urllib.error.HTTPError as error:
${pythonUse(does)}`;
}

function pythonUse(does: Use): string {
  const refusal = '    sys.exit(error.read().decode())\n';
  switch (does.prints) {
    case 'straat':
      return `${refusal}if answer["status"] == "ok":
    print(answer["address"]["straat"])`;
    case 'member':
      return `${refusal}print(answer["${does.member}"])`;
    case 'each':
      return `${refusal}for one in answer["${does.list}"]:
    print(one["${does.member}"])`;
    case 'faults':
      return `    if error.code != 422:
        sys.exit(error.read().decode())
    for one in json.load(error)["errors"]:
        print(one["code"], one["detail"])`;
  }
}

function php({ url, body, answered, does }: SampleRequest): string {
  const http =
    body === undefined
      ? `$http = ['header' => "X-API-Key: $key", 'ignore_errors' => true];`
      : `$http = [
    'method' => 'POST',
    'header' => "X-API-Key: $key\\r\\nContent-Type: application/json",
    'content' => '${body}',
    'ignore_errors' => true,
];`;
  return `<?php
$key = trim(getenv('BAG_ADRES_KEY'));
${http}
$context = stream_context_create(['http' => $http]);
$body = file_get_contents('${url}', false, $context);
$answer = json_decode($body, true);
if (!isset($answer['${does.prints === 'faults' ? 'errors' : answered}'])) {
    throw new RuntimeException($body);
}
${phpUse(does)}`;
}

function phpUse(does: Use): string {
  switch (does.prints) {
    case 'straat':
      return `if ($answer['status'] === 'ok') {
    echo $answer['address']['straat'];
}`;
    case 'member':
      return `echo json_encode($answer['${does.member}']);`;
    case 'each':
      return `foreach ($answer['${does.list}'] as $one) {
    echo $one['${does.member}'], "\\n";
}`;
    case 'faults':
      return `foreach ($answer['errors'] as $one) {
    echo $one['code'], ' ', $one['detail'], "\\n";
}`;
  }
}

/** Its library reads no JSON, so the program prints the answer as it is. */
function java({ url, body }: SampleRequest): string {
  const text = body === undefined ? '' : `    var body = """\n${indented(body, 8)}""";\n`;
  const post =
    body === undefined
      ? ''
      : `        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofString(body))
`;
  return `import java.net.URI;
import java.net.http.*;

class Lookup {
  public static void main(String[] args) throws Exception {
    var url = URI.create("${url}");
${text}    var request = HttpRequest.newBuilder(url)
        .header("X-API-Key", System.getenv("BAG_ADRES_KEY").strip())
${post}        .build();
    var response = HttpClient.newHttpClient()
        .send(request, HttpResponse.BodyHandlers.ofString());
    if (response.statusCode() != 200)
      throw new RuntimeException(response.body());
    System.out.println(response.body());
  }
}`;
}

/** Its library reads JSON into types that would be longer than the program. */
function go({ url, body }: SampleRequest): string {
  const imported = body === undefined ? '' : '\n\t"strings"';
  const request =
    body === undefined
      ? '\trequest, _ := http.NewRequest("GET", url, nil)'
      : `	body := strings.NewReader(\`${body}\`)
	request, _ := http.NewRequest("POST", url, body)
	request.Header.Set("Content-Type", "application/json")`;
  return `package main

import (
	"io"
	"log"
	"net/http"
	"os"${imported}
)

func main() {
	url := "${url}"
${request}
	request.Header.Set("X-API-Key", os.Getenv("BAG_ADRES_KEY"))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != 200 {
		log.Fatalln(string(answer), err)
	}
	os.Stdout.Write(answer)
}`;
}

function cSharp({ url, body, does }: SampleRequest): string {
  const call =
    body === undefined
      ? 'using var response = await client.GetAsync(url);'
      : `var json = """
${indented(body, 4)}
    """;
var content = new StringContent(json, null, "application/json");
using var response = await client.PostAsync(url, content);`;
  return `using System.Text.Json.Nodes;

var key = Environment.GetEnvironmentVariable("BAG_ADRES_KEY")?.Trim();
using var client = new HttpClient();
client.DefaultRequestHeaders.Add("X-API-Key", key);

var url = "${url}";
${call}
var body = await response.Content.ReadAsStringAsync();
${cSharpUse(does)}`;
}

function cSharpUse(does: Use): string {
  const answer = `if (!response.IsSuccessStatusCode) throw new Exception(body);
var answer = JsonNode.Parse(body)!;
`;
  switch (does.prints) {
    case 'straat':
      return `${answer}if ((string?)answer["status"] == "ok")
    Console.WriteLine(answer["address"]!["straat"]);`;
    case 'member':
      return `${answer}Console.WriteLine(answer["${does.member}"]);`;
    case 'each':
      return `${answer}foreach (var one in answer["${does.list}"]!.AsArray())
    Console.WriteLine(one!["${does.member}"]);`;
    case 'faults':
      return `if ((int)response.StatusCode != 422) throw new Exception(body);
foreach (var one in JsonNode.Parse(body)!["errors"]!.AsArray())
    Console.WriteLine($"{one!["code"]} {one["detail"]}");`;
  }
}

function indented(text: string, spaces: number): string {
  return text.replaceAll(/^/gm, ' '.repeat(spaces));
}
