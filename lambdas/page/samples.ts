/** Text for HTML, in an element or a quoted attribute. */
export function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

/** Code that can be scrolled to with the keyboard, and copied; `caption` and `code` are HTML. */
export function sample(caption: string, code: string, { kind = '', id = '' } = {}): string {
  return `<figure class="sample ${kind}"><figcaption>${caption}</figcaption><pre tabindex="0"><code${id && ` id="${id}"`}>${code}</code></pre></figure>\n`;
}

/**
 * The programs for a lookup, of which one is shown, by buttons that work without a script. In print all are shown;
 * `legend` is HTML.
 */
export function programTabs(legend: string, url: string): string {
  const programs = lookupSamples(url);
  const inputs = programs.map(
    ({ label }, index) =>
      `<input type="radio" name="program" id="program-${index}"${index === 0 ? ' checked' : ''}><label for="program-${index}">${label}</label>`,
  );
  const panels = programs.map(
    ({ label, source }) => `<div class="panel">${sample(label, escaped(source), { kind: 'program' })}</div>`,
  );
  return `<fieldset class="tabs"><legend>${legend}</legend>\n${inputs.join('\n')}\n${panels.join('\n')}\n</fieldset>\n`;
}

/** The shortest program for a lookup in each language, for the tabs of the page. The key is in the environment. */
export function lookupSamples(url: string): { label: string; source: string }[] {
  return [
    {
      label: 'curl',
      source: `curl -H "X-API-Key: $BAG_ADRES_KEY" \\
  "${url}"`,
    },
    {
      label: 'TypeScript',
      source: `const url = '${url}';
const headers = { 'X-API-Key': process.env.BAG_ADRES_KEY ?? '' };

const response = await fetch(url, { headers });
const answer = await response.json();
if (!response.ok) throw new Error(answer.title ?? answer.message);
if (answer.status === 'ok') console.log(answer.address.straat);`,
    },
    {
      label: 'Python',
      source: `import json, os, urllib.request

url = "${url}"
headers = {"X-API-Key": os.environ["BAG_ADRES_KEY"]}

request = urllib.request.Request(url, headers=headers)
with urllib.request.urlopen(request, timeout=10) as response:
    answer = json.load(response)
if answer["status"] == "ok":
    print(answer["address"]["straat"])`,
    },
    {
      label: 'PHP',
      source: `<?php
$curl = curl_init('${url}');
$key = getenv('BAG_ADRES_KEY');
curl_setopt_array($curl, [
    CURLOPT_HTTPHEADER => ["X-API-Key: $key"],
    CURLOPT_RETURNTRANSFER => true,
]);
$answer = json_decode(curl_exec($curl), true);
if ($answer['status'] === 'ok') {
    echo $answer['address']['straat'];
}`,
    },
    {
      label: 'C#',
      source: `using System.Text.Json.Nodes;

var key = Environment.GetEnvironmentVariable("BAG_ADRES_KEY");
using var client = new HttpClient();
client.DefaultRequestHeaders.Add("X-API-Key", key);

var url = "${url}";
var answer = JsonNode.Parse(await client.GetStringAsync(url))!;
if ((string?)answer["status"] == "ok")
    Console.WriteLine(answer["address"]!["straat"]);`,
    },
  ];
}
