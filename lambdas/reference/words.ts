/** The names of the paragraphs in the introduction of the OpenAPI document. */
export const paragraphNames = [
  'Toevoeging',
  'Keys',
  'Outcomes',
  'Problems',
  'Quota',
  'Gateway',
  'Test addresses',
  'Storing results',
  'Compatibility',
] as const;

/** The texts that the OpenAPI document has in English. */
export type Descriptions = {
  lead: string;
  paragraphs: Record<(typeof paragraphNames)[number], string>;
  /** By name of a parameter of the lookup. */
  parameterForms: Record<string, string>;
  /** By name of a header. */
  headerMeanings: Record<string, string>;
  /** By name of an example of a lookup. */
  exampleTitles: Record<string, string>;
  /** By `operationId`. */
  operations: Record<string, string>;
};

/** The texts of the reference page in English, besides those of the OpenAPI document. */
export const english = {
  title: 'Dutch addresses',
  pageTitle: 'Dutch addresses: API reference',
  contents: 'Contents',
  skip: 'Skip to the contents',
  copy: 'Copy',
  copied: 'Copied',
  search: 'Search this page',
  noResults: 'Nothing found',
  request: 'Request',
  response: 'Response',
  sections: {
    start: 'Quick start',
    keys: 'Keys',
    lookup: 'Look up one address',
    batch: 'Look up many addresses',
    validate: 'Check a key',
    quota: 'Quota and retries',
    errors: 'Errors',
    headers: 'Headers',
    openapi: 'OpenAPI document',
    changes: 'What may change',
  },
  startSteps: [
    'Get a key from your provider. It begins with `bagadres_`.',
    'Put it in place of `YOUR_KEY` and paste this line into a terminal.',
    'Read `status` first: `ok` means that `address` has the street and the town.',
  ],
  parameters: 'Parameters',
  required: 'required',
  optional: 'optional',
  outcomes: 'Outcomes',
  outcome: {
    ok: 'The register has exactly one street and town. `request` shows how the input was read.',
    not_found:
      'The register has no such address. This is not an error. `toevoegingen` lists the additions that do exist, so that a form can offer them.',
    ambiguous: 'The register has several streets or towns. Offer the `candidates` to your user.',
  },
  body: 'Members of the response',
  members: {
    status: '`ok`, `not_found` or `ambiguous`.',
    request:
      'The input, normalised: the postcode without spaces in upper case, `huisnummer` as a number, `toevoeging` as it was sent or `null`.',
    address: '`straat` and `woonplaats` as the register writes them; `null` unless `status` is `ok`.',
    candidates:
      'Each combination of `straat` and `woonplaats` once, sorted by town, then street; empty unless `status` is `ambiguous`.',
    toevoegingen:
      'Only in `not_found`: the additions at this postcode and huisnummer, in upper case and sorted, `null` for the address without one. At most 400.',
  },
  validationMembers: {
    valid: 'Always `true`: any other key gets 401 or 403.',
    key_label:
      'The label that the key was created with. It may contain personal data, such as a name: do not log these responses.',
    plan_code: 'The plan of the account. It promises no price.',
    limits:
      'The limit for each time window of the plan: `minute`, `hour`, `day`, `month`, in UTC. `null` is unlimited; 0 allows no requests.',
  },
  testAddresses: 'Test addresses',
  storing: 'Storing results',
  programs: 'Programming language',
  programsLead:
    'None needs a library. Complete programs, which retry as described below, are in the OpenAPI document, as `x-codeSamples`.',
  retries: 'When to retry',
  retryRows: [
    ['429, 503', 'After the number of seconds in `Retry-After`; without that header, after a second.'],
    ['500, or no response', 'Once or twice, with longer and longer waits.'],
    ['any other', 'Not: the same request gets the same response.'],
  ] as [string, string][],
  problems: 'All errors',
  faults: 'Codes of invalid input',
  faultsLead:
    'A 422 has one entry in `errors` for each fault. Each `code` is stable: translate by it. `suggestion` has the parameters to send ' +
    'instead, where the input says clearly what is meant: show it to the person who typed.',
  status: 'Status',
  meaning: 'Meaning and what to do',
  code: 'Code',
  name: 'Name',
  form: 'Form',
  description: 'Meaning',
  headersLead: 'Names of headers are not case-sensitive.',
  everyResponse: 'every response',
  exampleOf: 'For instance',
};

export type Words = typeof english;

/** The texts of the reference page in Dutch. */
export const dutch: Words & Descriptions = {
  title: 'Nederlandse adressen',
  pageTitle: 'Nederlandse adressen: API-documentatie',
  contents: 'Inhoud',
  skip: 'Naar de inhoud',
  copy: 'Kopieer',
  copied: 'Gekopieerd',
  search: 'Zoek op deze pagina',
  noResults: 'Niets gevonden',
  request: 'Verzoek',
  response: 'Antwoord',
  sections: {
    start: 'Snel beginnen',
    keys: 'Sleutels',
    lookup: 'Eén adres opzoeken',
    batch: 'Veel adressen opzoeken',
    validate: 'Een sleutel controleren',
    quota: 'Quotum en opnieuw proberen',
    errors: 'Fouten',
    headers: 'Headers',
    openapi: 'OpenAPI-document',
    changes: 'Wat kan veranderen',
  },
  startSteps: [
    'Vraag uw leverancier om een sleutel. Die begint met `bagadres_`.',
    'Zet hem op de plaats van `YOUR_KEY` en plak deze regel in een terminal.',
    'Lees eerst `status`: bij `ok` staan straat en woonplaats in `address`.',
  ],
  parameters: 'Parameters',
  required: 'verplicht',
  optional: 'optioneel',
  outcomes: 'Uitkomsten',
  outcome: {
    ok: 'Het register heeft precies één straat en woonplaats. `request` laat zien hoe de invoer is gelezen.',
    not_found:
      'Het register heeft dit adres niet. Dat is geen fout. `toevoegingen` noemt de toevoegingen die wel bestaan, zodat een formulier ze kan aanbieden.',
    ambiguous: 'Het register heeft meerdere straten of woonplaatsen. Laat uw gebruiker kiezen uit `candidates`.',
  },
  body: 'Inhoud van het antwoord',
  members: {
    status: '`ok`, `not_found` of `ambiguous`.',
    request:
      'De invoer, genormaliseerd: de postcode zonder spaties in hoofdletters, `huisnummer` als getal, `toevoeging` zoals gestuurd of `null`.',
    address: '`straat` en `woonplaats` zoals het register ze schrijft; `null` tenzij `status` `ok` is.',
    candidates:
      'Elke combinatie van `straat` en `woonplaats` één keer, gesorteerd op woonplaats en dan straat; leeg tenzij `status` `ambiguous` is.',
    toevoegingen:
      'Alleen bij `not_found`: de toevoegingen bij deze postcode en dit huisnummer, in hoofdletters en gesorteerd, `null` voor het adres zonder toevoeging. Hoogstens 400.',
  },
  validationMembers: {
    valid: 'Altijd `true`: elke andere sleutel krijgt 401 of 403.',
    key_label:
      'De naam waarmee de sleutel is gemaakt. Die kan persoonsgegevens bevatten: leg deze antwoorden niet vast in logs.',
    plan_code: 'Het abonnement van het account. Er volgt geen prijs uit.',
    limits:
      'De limiet voor elk tijdvenster van het abonnement: `minute`, `hour`, `day`, `month`, in UTC. `null` is onbeperkt; bij 0 is geen enkel verzoek toegestaan.',
  },
  testAddresses: 'Testadressen',
  storing: 'Resultaten bewaren',
  programs: 'Programmeertaal',
  programsLead:
    'Er zijn geen bibliotheken nodig. Volledige programma’s, die verzoeken opnieuw proberen zoals hieronder beschreven, staan in het ' +
    'OpenAPI-document, als `x-codeSamples`.',
  retries: 'Wanneer opnieuw proberen',
  retryRows: [
    ['429, 503', 'Na het aantal seconden in `Retry-After`; zonder die header na een seconde.'],
    ['500, of geen antwoord', 'Een of twee keer, met steeds langere pauzes.'],
    ['alle andere', 'Niet: hetzelfde verzoek krijgt hetzelfde antwoord.'],
  ],
  problems: 'Alle fouten',
  faults: 'Codes van ongeldige invoer',
  faultsLead:
    'Een 422 heeft in `errors` een element voor elke fout. Elke `code` ligt vast: gebruik die om te vertalen. `suggestion` ' +
    'heeft de parameters om in plaats daarvan te sturen, als de invoer duidelijk is: laat die zien aan wie typte.',
  status: 'Status',
  meaning: 'Betekenis en oplossing',
  code: 'Code',
  name: 'Naam',
  form: 'Vorm',
  description: 'Betekenis',
  headersLead: 'Namen van headers zijn niet hoofdlettergevoelig.',
  everyResponse: 'elk antwoord',
  exampleOf: 'Bijvoorbeeld',

  lead:
    'Zoekt straat en woonplaats van een Nederlands adres op met postcode, huisnummer en toevoeging, in een kopie van de ' +
    '[BAG](https://www.kadaster.nl/zakelijk/registraties/basisregistraties/bag), de officiële registratie van adressen.',
  paragraphs: {
    Toevoeging:
      '`toevoeging` is de huisletter en de huisnummertoevoeging van het register samen: huisletter `b` en huisnummertoevoeging `99` ' +
      'worden samen `toevoeging=b99`.',
    Keys:
      'Elk verzoek, behalve dat naar `/v1/openapi.json`, heeft een API-sleutel nodig in de header `X-API-Key`. Roep de API aan vanaf een ' +
      'server: een sleutel hoort niet in een browser, in HTML, in een script of in webstatistieken, dus er zijn geen CORS-headers.',
    Outcomes:
      'Een geldige zoekopdracht geeft 200 en een van drie uitkomsten, te onderscheiden aan `status`: `ok`, `not_found` en `ambiguous`. `include` ' +
      'voegt er gegevens aan toe. Namen zijn zoals het register ze schrijft. Postbussen staan niet in het register, en adressen zonder postcode zijn niet te vinden.',
    Problems:
      'Elk antwoord dat geen succes meldt, is een probleembeschrijving (RFC 9457) als `application/problem+json`. `type` ligt vast en leidt naar een pagina die ' +
      'vertelt wat er is gebeurd en wat u kunt doen; vergelijk het als tekst. `title` en `detail` zijn voor mensen.',
    Quota:
      'Een geldige zoekopdracht telt als één in elk tijdvenster van het abonnement. Ongeldige invoer, weigeringen en het controleren van ' +
      'een sleutel tellen nooit; na een 500, een 503 of een verloren antwoord kan een geldige zoekopdracht geteld zijn, één keer. ' +
      'Zoekopdrachten en antwoorden met 429 vermelden in `RateLimit-Policy` en `RateLimit` hoeveel er over is. Wacht bij 429 en 503 het ' +
      'aantal seconden in `Retry-After`.',
    Gateway:
      'API Gateway weigert verzoeken boven de limiet van de aanbieder, die voor alle accounts samen geldt, met 429 en ' +
      '`{"message":"Too Many Requests"}` als `application/json`, zonder `Retry-After` en de andere headers. Wacht een seconde, daarna steeds ' +
      'langer, en probeer het opnieuw. Zo’n antwoord telt niet mee voor het quotum.',
    'Test addresses':
      '`9999SD 1` is `ok`, `9999SD 2` is `not_found` en `9999SD 3` is `ambiguous`, ongeacht de gegevens. Ze bestaan voor elke sleutel, tenzij ' +
      'de aanbieder ze heeft uitgezet: dan zijn ze `not_found`, net als elke andere postcode die niet bestaat.',
    'Storing results':
      'De gegevens zijn vrij van rechten (CC0): u mag ze bewaren en delen. `Cache-Control: no-store` gaat over HTTP-caches tussen u en de ' +
      'dienst, omdat een antwoord bij een sleutel hoort.',
    Compatibility:
      'Binnen `/v1` wordt niets verwijderd of veranderd. Er kunnen velden, headers, soorten problemen en paden bij komen: negeer wat u ' +
      'niet kent. `API-Version` is de versie die antwoordde.',
  },
  parameterForms: {
    postcode: 'Vier cijfers, waarvan het eerste geen 0 is, en twee letters. Spaties en hoofdletters maken niet uit.',
    huisnummer:
      'Het huisnummer zonder toevoeging: 1 tot en met 99999. Voorloopnullen mogen, tot vijf cijfers in totaal.',
    toevoeging:
      'Huisletter en huisnummertoevoeging samen: alles achter het nummer. Hoogstens vijf letters en cijfers; spaties en hoofdletters ' +
      'maken niet uit. Afwezig, leeg en alleen spaties zijn hetzelfde.',
    include:
      'Wat het antwoord nog meer moet hebben, met komma’s ertussen en elk één keer: `toevoegingen`, de toevoegingen die bij de postcode en ' +
      'het huisnummer bestaan, bij elke uitkomst; `nummeraanduidingen`, de BAG-id’s van het adres en van elke kandidaat.',
  },
  headerMeanings: {
    'API-Version': 'De semantische versie van de API die antwoordde.',
    'Cache-Control': 'Geen HTTP-cache mag een antwoord bewaren.',
    'Strict-Transport-Security': 'Alleen HTTPS, een jaar lang.',
    'X-Content-Type-Options': 'Het soort inhoud mag niet worden geraden.',
    'X-Request-Id': 'Identificeert het verzoek. Noem het als u uw leverancier iets vraagt.',
    ETag: 'De versie van het document, voor `If-None-Match`.',
    'Content-Encoding': 'Aanwezig als de client gzip accepteert.',
    Vary: 'De compressie hangt af van `Accept-Encoding`.',
    'Dataset-Date': 'De datum van de kopie van het register; afwezig zolang die onbekend is.',
    'RateLimit-Policy':
      'Elk eindig tijdvenster van het account, met zijn quotum `q` en zijn lengte in seconden `w`, als structured field (IETF-concept ' +
      '"RateLimit header fields for HTTP"). Afwezig bij een account zonder zulke vensters.',
    RateLimit:
      'Het tijdvenster dat het eerst op is: het resterende quotum `r` en het aantal seconden tot het opnieuw begint `t`.',
    'Retry-After': 'Seconden tot het verzoek zou kunnen slagen, ten minste 1.',
    'WWW-Authenticate': 'Hoe u zich authenticeert: met een API-sleutel in de header `X-API-Key`.',
    Allow: 'De methode die het pad ondersteunt.',
  },
  exampleTitles: {
    found: 'Eén adres',
    found_with_toevoeging: 'Met een toevoeging',
    not_found: 'Niet gevonden, maar wel met andere toevoegingen (een testadres)',
    included: 'Met de toevoegingen die bestaan, en BAG-id’s (een testadres)',
    ambiguous: 'Meerdere plaatsen (een testadres)',
  },
  operations: {
    lookUpAddress:
      'Vindt straat en woonplaats bij precies deze postcode, dit huisnummer en deze toevoeging: `12` is niet `12A`. Een geldige zoekopdracht ' +
      'telt als één in elk tijdvenster van het quotum, wat de uitkomst ook is; een ongeldige telt niet. Elke andere parameter is ' +
      'ongeldig, want zonder de waarde van een verkeerd gespelde (`toevoging`) of die van een andere API (`huisletter`, `house_number`) kan ' +
      'het antwoord een ander adres zijn. Een API-sleutel in een parameter is ook ongeldig.',
    lookUpAddresses:
      'Zoekt 1 tot 100 adressen op in één verzoek, elk precies zoals een enkele zoekopdracht. Ze tellen allemaal mee, elk als één, of geen ' +
      'enkele: is er een ongeldig (422, met een JSON-pointer naar elke fout), of is er in een tijdvenster minder quotum over (429, waarbij ' +
      '`RateLimit` zegt hoeveel), dan wordt niets opgezocht en telt niets mee. De body heeft hoogstens 64 KB.',
    validateKey:
      'Geeft aan of de sleutel geldig is, welke limieten gelden en, in de headers `RateLimit`, wat er over is. Telt niet mee voor het quotum.',
    getOpenApi:
      'Dit document in OpenAPI 3.1. Er is geen sleutel voor nodig. Stuur de `ETag` die u hebt als `If-None-Match`: zolang het document gelijk is, ' +
      'krijgt u 304 zonder inhoud.',
  },
};
