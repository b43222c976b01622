import { serviceName } from '../../../core/languages.ts';
import type { TranslatedText } from './en.ts';

const postcodeForm =
  'Stuur vier cijfers, waarvan het eerste geen 0 is, en twee letters, zoals `1012JS`. Spaties en hoofdletters maken niet uit.';
const huisnummerForm = 'Stuur alleen cijfers, hoogstens vijf, van `1` tot en met `99999`.';
const includeForm =
  "Stuur een of meer van {availableIncludes}, elk één keer, met komma's ertussen; of laat `include` weg.";

export const dutch: TranslatedText = {
  /** `{includeMeanings}` stands for these, as far as a deployment offers them. */
  includeMeanings: {
    toevoegingen:
      'de toevoegingen die bij de postcode en het huisnummer bestaan, bij elke uitkomst',
    gemeente: 'de gemeente van het adres en van elke kandidaat, met naam en provincie',
    objecten:
      'de verblijfsobjecten, ligplaatsen en standplaatsen van het adres en van elke kandidaat, met status, gebruik, oppervlakte en locatie',
    nummeraanduidingen: 'de BAG-id’s van het adres en van elke kandidaat',
  },
  title: serviceName.nl,
  pageTitle: `${serviceName.nl}: API-documentatie`,
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
  tryIt: 'Of probeer een zoekopdracht in de portal, met uw eigen sleutel',
  parameters: 'Parameters',
  required: 'verplicht',
  optional: 'optioneel',
  outcomes: 'Uitkomsten',
  outcome: {
    ok: 'Het register heeft precies één straat en woonplaats. `request` laat zien hoe de invoer is gelezen.',
    not_found:
      'Het register heeft dit adres niet. Dat is geen fout. `toevoegingen` noemt de toevoegingen die wel bestaan, zodat een formulier ze kan aanbieden.',
    ambiguous:
      'Het register heeft meerdere straten of woonplaatsen. Laat uw gebruiker kiezen uit `candidates`.',
  },
  body: 'Inhoud van het antwoord',
  requestBody: 'Inhoud van het verzoek',
  membersOf: 'Inhoud van',
  testAddresses: 'Testadressen',
  storing: 'Resultaten bewaren',
  programs: 'Taal',
  programsLead:
    'De programma’s lezen de sleutel uit de omgevingsvariabele `BAG_ADRES_KEY` en hebben geen bibliotheken nodig. Volledige programma’s, die verzoeken opnieuw proberen zoals hieronder beschreven, staan in het OpenAPI-document, als `x-codeSamples`.',
  retries: 'Wanneer opnieuw proberen',
  retryRows: [
    ['429, 503', 'Na het aantal seconden in `Retry-After`; zonder die header na een seconde.'],
    ['500, of geen antwoord', 'Een of twee keer, met steeds langere pauzes.'],
    ['alle andere', 'Niet: hetzelfde verzoek krijgt hetzelfde antwoord.'],
  ],
  problems: 'Alle fouten',
  faults: 'Codes van ongeldige invoer',
  faultsLead:
    'Een 422 heeft in `errors` een element voor elke fout. Elke `code` ligt vast: gebruik die om te vertalen. `suggestion` heeft de parameters om in plaats daarvan te sturen, als de invoer duidelijk is: laat die zien aan wie typte.',
  status: 'Status',
  meaning: 'Betekenis en oplossing',
  code: 'Code',
  name: 'Naam',
  form: 'Vorm',
  description: 'Betekenis',
  versions: 'Versies',
  feed: 'Als feed',
  otherForms: 'De documentatie in andere vormen',
  headersLead: 'Namen van headers zijn niet hoofdlettergevoelig.',
  everyResponse: 'elk antwoord',
  exampleOf: 'Bijvoorbeeld',
  searchWords: {
    'errors-title': 'foutcode foutcodes foutmelding foutmeldingen',
    'quota-title': 'limiet verbruik tegoed maximum',
    'keys-title': 'api-sleutel apikey token inloggen toegang',
    'batch-title': 'bulk batch meerdere lijst',
    'test-addresses': 'testen proberen sandbox proefomgeving',
    retries: 'herhalen opnieuw timeout',
    'outcome-not-found': 'niet gevonden onbekend bestaat niet',
    'error-unauthorized': 'foute ongeldige sleutel geen toegang inloggen',
    'error-account-inactive': 'geblokkeerd blokkade opgeschort uitgeschakeld',
    'error-plan-inactive': 'geblokkeerd blokkade uitgeschakeld',
    'error-quota-exceeded': 'limiet overschreden te veel verzoeken geblokkeerd',
    'changes-title': 'versies wijzigingen changelog',
  },

  lead: 'Zoekt straat en woonplaats van een Nederlands adres op met postcode, huisnummer en toevoeging, in een kopie van de [BAG](https://www.kadaster.nl/zakelijk/registraties/basisregistraties/bag), de officiële registratie van adressen.',
  paragraphs: {
    Toevoeging:
      '`toevoeging` is de huisletter en de huisnummertoevoeging van het register samen: huisletter `b` en huisnummertoevoeging `99` worden samen `toevoeging=b99`.',
    Keys: 'Elk verzoek, behalve dat naar `/v1/openapi.json`, heeft een API-sleutel nodig in de header `X-API-Key`. Roep de API aan vanaf een server: een sleutel hoort niet in een browser, in HTML, in een script of in webstatistieken, dus er zijn geen CORS-headers.',
    Outcomes:
      'Een geldige zoekopdracht geeft 200 en een van drie uitkomsten, te onderscheiden aan `status`: `ok`, `not_found` en `ambiguous`. `include` voegt er gegevens aan toe. Namen zijn zoals het register ze schrijft. Postbussen staan niet in het register, en adressen zonder postcode zijn niet te vinden.',
    Problems:
      'Elk antwoord dat geen succes meldt, is een probleembeschrijving (RFC 9457) als `application/problem+json`. `type` ligt vast en leidt naar een pagina die vertelt wat er is gebeurd en wat u kunt doen; vergelijk het als tekst. `title` en `detail` zijn voor mensen.',
    Quota:
      'Een geldige zoekopdracht telt als één in elk tijdvenster van het abonnement. Ongeldige invoer, weigeringen en het controleren van een sleutel tellen nooit; na een 500, een 503 of een verloren antwoord kan een geldige zoekopdracht geteld zijn, één keer. Zoekopdrachten en antwoorden met 429 vermelden in `RateLimit-Policy` en `RateLimit` hoeveel er over is. Wacht bij 429 en 503 het aantal seconden in `Retry-After`.',
    Gateway:
      'API Gateway weigert verzoeken boven de limiet van de aanbieder, die voor alle accounts samen geldt, met 429 en `{"message":"Too Many Requests"}` als `application/json`, zonder `Retry-After` en de andere headers. Wacht een seconde, daarna steeds langer, en probeer het opnieuw. Zo’n antwoord telt niet mee voor het quotum.',
    'Test addresses':
      '`9999SD 1` is `ok`, `9999SD 2` is `not_found` en `9999SD 3` is `ambiguous`, ongeacht de gegevens. Ze bestaan voor elke sleutel, tenzij de aanbieder ze heeft uitgezet: dan zijn ze `not_found`, net als elke andere postcode die niet bestaat.',
    'Storing results':
      'De gegevens zijn vrij van rechten (CC0): u mag ze bewaren en delen. `Cache-Control: no-store` gaat over HTTP-caches tussen u en de dienst, omdat een antwoord bij een sleutel hoort.',
    Compatibility:
      'Binnen `/v1` wordt niets verwijderd of veranderd. Er kunnen velden, headers, soorten problemen en paden bij komen: negeer wat u niet kent. `API-Version` is de versie die antwoordde.',
  },
  parameterForms: {
    postcode:
      'Vier cijfers, waarvan het eerste geen 0 is, en twee letters. Spaties en hoofdletters maken niet uit.',
    huisnummer:
      'Het huisnummer zonder toevoeging: 1 tot en met 99999. Voorloopnullen mogen, tot vijf cijfers in totaal.',
    toevoeging:
      'Huisletter en huisnummertoevoeging samen: alles achter het nummer. Hoogstens vijf letters en cijfers; spaties en hoofdletters maken niet uit. Afwezig, leeg en alleen spaties zijn hetzelfde.',
    include:
      'Wat het antwoord nog meer moet hebben, met komma’s ertussen en elk één keer: {includeMeanings}.',
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
      'Elk eindig tijdvenster van het account, en `key-day` voor een sleutel met een eigen limiet, met zijn quotum `q` en zijn lengte in seconden `w`, als structured field (IETF-concept "RateLimit header fields for HTTP"). Afwezig bij een account zonder zulke vensters.',
    RateLimit:
      'Het tijdvenster dat het eerst op is: het resterende quotum `r` en het aantal seconden tot het opnieuw begint `t`.',
    'Retry-After': 'Seconden tot het verzoek zou kunnen slagen, ten minste 1.',
    'WWW-Authenticate': 'Hoe u zich authenticeert: met een API-sleutel in de header `X-API-Key`.',
    Allow: 'De methode die het pad ondersteunt.',
  },
  exampleTitles: {
    found: 'Eén adres',
    found_with_toevoeging: 'Met een toevoeging',
    not_found: 'Niet gevonden, maar wel met andere toevoegingen',
    with_gemeente: 'Met de gemeente',
    included: 'Met de toevoegingen die bestaan, en BAG-id’s',
    ambiguous: 'Meerdere plaatsen',
    objects: 'Met de objecten',
  },
  memberMeanings: {
    'AddressesToLookUp.addresses':
      '1 tot en met 100 adressen. Een adres dat er twee keer in staat, telt twee keer.',
    'AddressesToLookUp.include':
      'Wat elke uitkomst nog meer moet hebben, zoals bij een enkele zoekopdracht.',
    'AddressToLookUp.postcode':
      'Vier cijfers, waarvan het eerste geen 0 is, en twee letters. Spaties en hoofdletters maken niet uit.',
    'AddressToLookUp.huisnummer':
      'Het huisnummer zonder toevoeging, als geheel getal, of als tekst met cijfers zoals in een URL.',
    'AddressToLookUp.toevoeging':
      'Alles achter het nummer, hoogstens vijf letters en cijfers. Afwezig, `null` en leeg zijn hetzelfde.',
    AddressRequest: 'De invoer van de zoekopdracht, genormaliseerd.',
    'AddressRequest.postcode': 'Zonder spaties, in hoofdletters.',
    'AddressRequest.toevoeging':
      'Zonder spaties, met de hoofdletters en kleine letters zoals gestuurd; `null` als er geen was.',
    Place: 'Een straat met de woonplaats, zoals het register ze schrijft.',
    'Place.straat': 'De naam van de straat (openbare ruimte).',
    'Place.woonplaats':
      "De naam van de woonplaats, bijvoorbeeld `Amsterdam`. Voor Den Haag schrijft het register `'s-Gravenhage`.",
    'Place.gemeente':
      'Alleen met `include=gemeente`. De gemeente waar de woonplaats op de datum in `Dataset-Date` bij hoort; `null` als het register er geen noemt.',
    'Place.objecten':
      'Alleen met `include=objecten`. De objecten met dit adres, gesorteerd op identificatie. Meerdere zijn er bijvoorbeeld bij een gebouw dat door een nieuw wordt vervangen; leeg als er geen is.',
    'Place.nummeraanduidingen':
      'Alleen met `include=nummeraanduidingen`. De identificaties van de nummeraanduidingen van dit adres, elk 16 cijfers, gesorteerd. Meerdere als het vaker is geregistreerd, bijvoorbeeld bij een gebouw dat door een nieuw wordt vervangen.',
    'Gemeente.code': 'De code, vier cijfers: die van het CBS en de RvIG.',
    'Gemeente.naam': 'De naam, of `null` als de gemeente nieuwer is dan de tabel van deze versie.',
    'Gemeente.provincie': 'De naam van de provincie, of `null` als ook de naam ontbreekt.',
    'AdresObject.identificatie': 'De BAG-id van het object: 16 cijfers.',
    'AdresObject.status':
      'De status in de woorden van het register, bijvoorbeeld `Verblijfsobject in gebruik`, of `Verblijfsobject gevormd` als het nog gepland is. Ingetrokken objecten staan er niet bij.',
    'AdresObject.gebruiksdoelen':
      'Alleen bij een verblijfsobject: bijvoorbeeld `woonfunctie`, gesorteerd.',
    'AdresObject.oppervlakte':
      'Alleen bij een verblijfsobject: de oppervlakte in vierkante meters.',
    'AdresObject.hoofdadres':
      'Of dit adres het hoofdadres van het object is; `false` bij een nevenadres.',
    Locatie:
      'Waar een object ligt: het punt in het register, of het zwaartepunt van een ligplaats of standplaats.',
    'Locatie.x':
      'Meters naar het oosten in het Rijksdriehoeksstelsel (EPSG:28992), zoals in het register.',
    'Locatie.y': 'Meters naar het noorden.',
    'Locatie.lat': 'Breedtegraad in ETRS89, in graden met 7 decimalen, tot op 0,5 m nauwkeurig.',
    'Locatie.lon': 'Lengtegraad.',
    'AddressFound.candidates': 'Leeg.',
    'AddressAmbiguous.candidates':
      'Elke combinatie van straat en woonplaats één keer, gesorteerd op woonplaats en dan straat.',
    'AddressFound.toevoegingen':
      'Alleen met `include=toevoegingen`. De toevoegingen die bij deze postcode en dit huisnummer bestaan, in hoofdletters en gesorteerd; `null` is het adres zonder toevoeging. Leeg als er geen zijn. Hoogstens 400: een lijst van die lengte kan onvolledig zijn.',
    'AddressNotFound.toevoegingen':
      'De toevoegingen die bij deze postcode en dit huisnummer bestaan, in hoofdletters en gesorteerd; `null` is het adres zonder toevoeging. Leeg als er geen zijn. Hoogstens 400: een lijst van die lengte kan onvolledig zijn.',
    'LookupAnswers.results':
      'Een uitkomst voor elk adres, in de volgorde van het verzoek, elk zoals een enkele zoekopdracht die geeft.',
    'KeyValidation.valid': 'Elke andere sleutel krijgt 401 of 403.',
    'KeyValidation.key_label':
      'De naam waarmee de sleutel is gemaakt. Die kan persoonsgegevens bevatten: leg hem niet vast in logs.',
    'KeyValidation.plan_code': 'Het abonnement van het account. Er volgt geen prijs uit.',
    'KeyValidation.key_limit_per_day':
      'Het hoogste aantal zoekopdrachten met deze sleutel per UTC-dag, als de sleutel naast `limits` een eigen limiet heeft; bij 0 is geen enkel verzoek toegestaan.',
    Limits:
      'De limiet die geldt voor elk tijdvenster van het abonnement (in UTC, gelijk met klok en kalender). `null` is onbeperkt; bij 0 is geen enkel verzoek toegestaan.',
    'Unauthorized.title': 'Het soort probleem, voor mensen.',
    'Unauthorized.detail': 'Wat er mis is met dit verzoek, voor mensen. De tekst kan veranderen.',
    'Unauthorized.request_id': 'Identificeert het verzoek; gelijk aan de header `X-Request-Id`.',
    'InvalidInput.errors': 'Een element voor elke fout.',
    'InputFault.parameter':
      'De naam van de parameter zoals gestuurd, of zoals die had moeten zijn als hij ontbreekt.',
    'InputFault.detail': 'Wat u in plaats daarvan stuurt, voor mensen. De tekst kan veranderen.',
    Suggestion:
      'De parameters om in plaats daarvan te sturen, met hun waarden, als uit de invoer duidelijk is wat er is bedoeld: in plaats van de foute parameter zijn ze geldig. Een lege waarde betekent: laat hem weg. De service past ze nooit zelf toe.',
    'BodyFault.pointer':
      'Waar de fout zit, als JSON-pointer (RFC 6901): `/addresses/3/huisnummer`.',
    'QuotaExceeded.violated_windows':
      'De tijdvensters van het account waarin geen quotum over is, en `key-day` als de limiet van de sleutel op is.',
  },
  operations: {
    lookUpAddress:
      'Vindt straat en woonplaats bij precies deze postcode, dit huisnummer en deze toevoeging: `12` is niet `12A`. Een geldige zoekopdracht telt als één in elk tijdvenster van het quotum, wat de uitkomst ook is; een ongeldige telt niet. Elke andere parameter is ongeldig, want zonder de waarde van een verkeerd gespelde (`toevoging`) of die van een andere API (`huisletter`, `house_number`) kan het antwoord een ander adres zijn. Een API-sleutel in een parameter is ook ongeldig.',
    lookUpAddresses:
      'Zoekt 1 tot 100 adressen op in één verzoek, elk precies zoals een enkele zoekopdracht. Ze tellen allemaal mee, elk als één, of geen enkele: is er een ongeldig (422, met een JSON-pointer naar elke fout), of is er in een tijdvenster minder quotum over (429, waarbij `RateLimit` zegt hoeveel), dan wordt niets opgezocht en telt niets mee. De body heeft hoogstens 64 KB.',
    validateKey:
      'Geeft aan of de sleutel geldig is, welke limieten gelden en, in de headers `RateLimit`, wat er over is. Telt niet mee voor het quotum.',
    getOpenApi:
      'Dit document in OpenAPI 3.1. Er is geen sleutel voor nodig. Stuur de `ETag` die u hebt als `If-None-Match`: zolang het document gelijk is, krijgt u 304 zonder inhoud.',
  },

  frame: {
    language: 'Nederlands',
    service: serviceName.nl,
    languages: 'Taal',
    portal: 'Mijn sleutels en verbruik',
    contact: 'Contact',
    terms: 'Voorwaarden',
    privacy: 'Privacy',
    accessibility: 'Toegankelijkheid',
    about: 'Over deze dienst',
  },
  problemPage: {
    invalid: 'Ongeldige invoer',
    unknown: 'Deze foutmelding bestaat niet',
    known: 'Dit zijn alle fouten die de API meldt:',
    happened: 'Wat er is gebeurd',
    remedy: 'Wat u kunt doen',
    codes: 'De codes in <code>errors</code>',
    codeOf: 'Een code in de <code>errors</code> van',
    described: 'De API is beschreven in',
    reference: 'API-documentatie',
    inReference: 'In de',
  },

  explanations: {
    unauthorized: [
      'Het verzoek had geen geldige API-sleutel. De header `X-API-Key` ontbreekt of heeft een verkeerde vorm, of de sleutel is onbekend, onjuist of ingetrokken. Het antwoord is in al deze gevallen gelijk, zodat het niet verraadt welk geval het is.',
      'Stuur de volledige sleutel in de header `X-API-Key`; hij begint met `bagadres_`. Een sleutel in de query string wordt niet gelezen. Werkte de sleutel eerder wel, dan is hij ingetrokken: vraag uw leverancier om een nieuwe. Probeer het niet opnieuw met dezelfde sleutel.',
    ],
    'account-inactive': [
      'De sleutel is geldig, maar het account is opgeschort. Het verzoek telde niet mee voor het quotum.',
      'Vraag uw leverancier om het account te activeren. Vanaf dat moment werkt dezelfde sleutel weer.',
    ],
    'plan-inactive': [
      'De sleutel en het account zijn geldig, maar het abonnement van het account is niet meer actief. Het verzoek telde niet mee voor het quotum.',
      'Vraag uw leverancier om een ander abonnement voor het account. De sleutel blijft hetzelfde.',
    ],
    'not-found': [
      'Er is niets op dit pad. Een adres dat niet in het register staat is geen fout: dan is het antwoord status 200 met de uitkomst `not_found`.',
      'Vergelijk het pad met de documentatie. Paden zijn hoofdlettergevoelig, beginnen met `/v1/` en eindigen niet op een schuine streep.',
    ],
    'method-not-allowed': [
      'Het pad bestaat, maar ondersteunt deze methode niet; de header `Allow` noemt de methode die wel kan.',
      'Gebruik `POST` voor `/v1/addresses`, en `GET` met de parameters in de query string voor elk ander pad.',
    ],
    'content-too-large': [
      'De body is groter dan 64 KB. Het verzoek telde niet mee voor het quotum.',
      'Stuur minder adressen per verzoek; 100 mag.',
    ],
    'unsupported-media-type': [
      'De body is niet als JSON aangegeven. Het verzoek telde niet mee voor het quotum.',
      'Stuur JSON, met de header `Content-Type: application/json`.',
    ],
    'invalid-input': [
      'Een of meer parameters zijn ongeldig. Er is geen adres opgezocht en het verzoek telde niet mee voor het quotum. `errors` heeft een element voor elke fout: de naam van de `parameter`, een vaste `code`, en een `detail` met wat u in plaats daarvan moet sturen. Waar dat duidelijk is, heeft `suggestion` het voor een programma: de parameters om te sturen, met hun waarden.',
      'Verbeter elke parameter die `errors` noemt en stuur het verzoek opnieuw. Hetzelfde verzoek krijgt altijd hetzelfde antwoord.',
    ],
    missing: [
      'Een verplichte parameter ontbreekt, is leeg of heeft alleen spaties.',
      'Stuur `postcode` en `huisnummer` bij elke zoekopdracht; `toevoeging` en `include` mogen ontbreken.',
    ],
    duplicate: [
      'Een parameter, of een veld van een object in de body, is meer dan één keer gestuurd.',
      'Stuur elke parameter en elk veld één keer. Een veelvoorkomende oorzaak is een basis-URL die al een query string heeft.',
    ],
    'parameter-unknown': [
      'De API heeft geen parameter met deze naam. Hij kan verkeerd gespeld zijn, zoals `toevoging` en `Toevoeging`, of de naam zijn die een andere API gebruikt, zoals `huisletter`, `house_number` of `addition`. Zonder die waarde kan het antwoord een ander adres zijn.',
      'Stuur het nummer als `huisnummer`, en huisletter en huisnummertoevoeging aan elkaar als `toevoeging`: `huisletter=b` en `huisnummertoevoeging=99` worden `toevoeging=b99`. Waar de juiste waarde af te leiden is, staat die in `suggestion`. Laat elke andere parameter weg, ook als hij leeg is.',
    ],
    'misplaced-key': [
      'Een parameter bevat een API-sleutel. Een query string wordt bewaard in logs, geschiedenissen en proxy’s, dus de sleutel is niet meer geheim.',
      'Stuur de sleutel alleen in de header `X-API-Key`. Vraag uw leverancier om een nieuwe sleutel en laat deze intrekken.',
    ],
    'value-too-long': [
      'Een waarde heeft meer dan 200 tekens, spaties niet meegeteld. Geen geldige waarde is zo lang, dus er is niet verder naar gekeken.',
      'Controleer wat uw programma stuurt: een adres is een `postcode`, een `huisnummer` en, als het er een heeft, een `toevoeging`.',
    ],
    'postcode-character': [
      'De postcode heeft andere tekens dan ASCII-letters, cijfers en spaties, zoals een streepje, een punt of een tab.',
      postcodeForm,
    ],
    'postcode-leading-zero': [
      'De postcode begint met 0. Geen enkele Nederlandse postcode doet dat.',
      postcodeForm,
    ],
    'postcode-incomplete': [
      'De postcode is te kort: er ontbreken cijfers of letters.',
      postcodeForm,
    ],
    'postcode-too-long': [
      'Er staat iets achter de twee letters van de postcode.',
      `${postcodeForm} Stuur het nummer als \`huisnummer\`.`,
    ],
    'postcode-form': ['De postcode bestaat niet uit vier cijfers en twee letters.', postcodeForm],
    'huisnummer-with-toevoeging': [
      'Het huisnummer bevat een toevoeging, zoals in `12A`.',
      'Stuur het nummer als `huisnummer` en alles erachter als `toevoeging`: `huisnummer=12` en `toevoeging=A`.',
    ],
    'huisnummer-range': [
      'Het huisnummer bestaat uit twee nummers, zoals in `12-14`.',
      'Zoek één van de twee op. Is het tweede een toevoeging, stuur het dan als `toevoeging`: `huisnummer=12` en `toevoeging=14`.',
    ],
    'huisnummer-space': [
      'Het huisnummer begint of eindigt met witruimte: een spatie, een tab of een regeleinde. In een query string is een `+` ook een spatie.',
      huisnummerForm,
    ],
    'huisnummer-sign': [
      'Het huisnummer heeft een plus- of minteken, zoals in `-12`.',
      huisnummerForm,
    ],
    'huisnummer-decimal': ['Het huisnummer heeft decimalen, zoals in `12.0`.', huisnummerForm],
    'huisnummer-zero': ['Het huisnummer is 0. Huisnummers beginnen bij 1.', huisnummerForm],
    'huisnummer-too-long': [
      'Het huisnummer heeft meer dan vijf cijfers, voorloopnullen meegeteld.',
      huisnummerForm,
    ],
    'huisnummer-form': [
      'Het huisnummer is geen geheel getal van 1 tot en met 99999.',
      huisnummerForm,
    ],
    'toevoeging-character': [
      'De toevoeging heeft andere tekens dan ASCII-letters, cijfers en spaties, zoals het streepje in `A-2`.',
      'Stuur alleen de letters en cijfers, in hun volgorde: `A-2` is `toevoeging=A2`. Laat hem weg als het adres er geen heeft.',
    ],
    'toevoeging-too-long': [
      'De toevoeging heeft meer dan vijf letters en cijfers. Langere staan niet in het register.',
      'Stuur de toevoeging zoals het register haar schrijft: een verdieping is meestal een cijfer of een korte vorm zoals `1`, `2H` of `bis`. Zonder toevoeging noemt de uitkomst `not_found` de toevoegingen die bij het huisnummer bestaan.',
    ],
    'include-empty': [
      "`include` heeft geen namen, of een lege: niets tussen twee komma's.",
      includeForm,
    ],
    'include-unknown': [
      '`include` heeft een naam die niet bestaat. Namen zijn in kleine letters, zonder spaties.',
      includeForm,
    ],
    'include-repeated': ['`include` heeft een naam meer dan één keer.', includeForm],
    'include-unavailable': [
      '`include` noemt iets dat de API wel heeft, maar deze dienst niet: de aanbieder heeft het niet aangezet.',
      `Laat die naam weg, of vraag uw leverancier, die het kan aanzetten. ${includeForm}`,
    ],
    'body-form': [
      'De body is geen JSON-object.',
      'Stuur een object met de lijst `addresses` en eventueel `include`, in UTF-8.',
    ],
    'member-type': [
      'Een veld van de body heeft een ander JSON-type dan het moet hebben.',
      'Stuur `addresses` en `include` als lijsten, `postcode` als tekst, `huisnummer` als geheel getal of tekst, en `toevoeging` als tekst of `null`.',
    ],
    'unknown-member': [
      'De body of een adres heeft een veld dat de API niet heeft: verkeerd gespeld, of van een andere API, zoals `huisletter`.',
      'Stuur wat in `suggestion` staat, of laat het veld weg. Een adres heeft `postcode`, `huisnummer` en `toevoeging`; de body heeft `addresses` en `include`.',
    ],
    'addresses-count': [
      '`addresses` is leeg of heeft meer dan 100 adressen.',
      'Stuur 1 tot 100 adressen per verzoek.',
    ],
    'quota-exceeded': [
      'Het quotum is in een of meer tijdvensters verbruikt; `violated_windows` noemt ze. Het quotum hoort bij het account, dus alle sleutels delen het; `key-day` is de limiet die deze sleutel daarnaast per dag (UTC) heeft. Dit verzoek telde niet mee.',
      'Wacht het aantal seconden in `Retry-After` en probeer het dan opnieuw. Een 429 met alleen een `message` komt van API Gateway: te veel verzoeken per seconde, van alle accounts samen; wacht een seconde en probeer het dan opnieuw. De headers `RateLimit-Policy` en `RateLimit` van elke zoekopdracht geven aan hoeveel er over is, zodat een client op tijd kan vertragen. Gebeurt dit vaak, vraag uw leverancier dan om een groter abonnement, of wie uw sleutels beheert om een hogere limiet voor deze sleutel.',
    ],
    'internal-error': [
      'Er is een onverwachte fout opgetreden. Dit verzoek kan zijn meegeteld voor uw quotum.',
      'Probeer het nog één keer. Blijft de fout optreden, stuur dan de `request_id` naar uw leverancier, die daarmee de oorzaak kan vinden.',
    ],
    'temporarily-unavailable': [
      'Een onderdeel van de dienst antwoordde niet op tijd. Een zoekopdracht die niet geteld kan worden, wordt nooit beantwoord. Dit verzoek kan zijn meegeteld voor uw quotum.',
      'Wacht het aantal seconden in `Retry-After` en probeer het dan opnieuw, een paar keer, met steeds langere pauzes.',
    ],
  },
};
