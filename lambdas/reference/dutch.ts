import { includeNames } from '../../core/place-fields.ts';

const postcodeForm =
  'Stuur vier cijfers, waarvan het eerste geen 0 is, en twee letters, zoals `1012JS`. Spaties en hoofdletters maken niet uit.';
const huisnummerForm = 'Stuur alleen cijfers, hoogstens vijf, van `1` tot en met `99999`.';
const names = includeNames.map((name) => `\`${name}\``).join(', ');
const includeForm = `Stuur een of meer van ${names}, elk één keer, met komma's ertussen; of laat \`include\` weg.`;

/** The explanations in Dutch. */
export const dutchExplanations = {
  unauthorized: {
    happened:
      'Het verzoek had geen geldige API-sleutel. De header `X-API-Key` ontbreekt of heeft een verkeerde vorm, of de sleutel is ' +
      'onbekend, onjuist of ingetrokken. Het antwoord is in al deze gevallen gelijk, zodat het niet verraadt welk geval het is.',
    remedy:
      'Stuur de volledige sleutel in de header `X-API-Key`; hij begint met `bagadres_`. Een sleutel in de query string wordt niet ' +
      'gelezen. Werkte de sleutel eerder wel, dan is hij ingetrokken: vraag uw leverancier om een nieuwe. Probeer het niet ' +
      'opnieuw met dezelfde sleutel.',
  },
  'account-inactive': {
    happened: 'De sleutel is geldig, maar het account is opgeschort. Het verzoek telde niet mee voor het quotum.',
    remedy: 'Vraag uw leverancier om het account te activeren. Vanaf dat moment werkt dezelfde sleutel weer.',
  },
  'plan-inactive': {
    happened:
      'De sleutel en het account zijn geldig, maar het abonnement van het account is niet meer actief. Het verzoek telde niet ' +
      'mee voor het quotum.',
    remedy: 'Vraag uw leverancier om een ander abonnement voor het account. De sleutel blijft hetzelfde.',
  },
  'not-found': {
    happened:
      'Er is niets op dit pad. Een adres dat niet in het register staat is geen fout: dan is het antwoord status 200 met de uitkomst ' +
      '`not_found`.',
    remedy:
      'Vergelijk het pad met de documentatie. Paden zijn hoofdlettergevoelig, beginnen met `/v1/` en eindigen niet op een schuine streep.',
  },
  'method-not-allowed': {
    happened: 'Het pad bestaat, maar ondersteunt deze methode niet; de header `Allow` noemt de methode die wel kan.',
    remedy: 'Gebruik `POST` voor `/v1/addresses`, en `GET` met de parameters in de query string voor elk ander pad.',
  },
  'content-too-large': {
    happened: 'De body is groter dan 64 KB. Het verzoek telde niet mee voor het quotum.',
    remedy: 'Stuur minder adressen per verzoek; 100 mag.',
  },
  'unsupported-media-type': {
    happened: 'De body is niet als JSON aangegeven. Het verzoek telde niet mee voor het quotum.',
    remedy: 'Stuur JSON, met de header `Content-Type: application/json`.',
  },
  'invalid-input': {
    happened:
      'Een of meer parameters zijn ongeldig. Er is geen adres opgezocht en het verzoek telde niet mee voor het quotum. `errors` ' +
      'heeft een element voor elke fout: de naam van de `parameter`, een vaste `code`, en een `detail` met wat u in plaats daarvan moet sturen. ' +
      'Waar dat duidelijk is, heeft `suggestion` het voor een programma: de parameters om te sturen, met hun waarden.',
    remedy:
      'Verbeter elke parameter die `errors` noemt en stuur het verzoek opnieuw. Hetzelfde verzoek krijgt altijd hetzelfde antwoord.',
  },
  missing: {
    happened: 'Een verplichte parameter ontbreekt, is leeg of heeft alleen spaties.',
    remedy: 'Stuur `postcode` en `huisnummer` bij elke zoekopdracht; `toevoeging` en `include` mogen ontbreken.',
  },
  duplicate: {
    happened: 'Een parameter, of een veld van een object in de body, is meer dan één keer gestuurd.',
    remedy:
      'Stuur elke parameter en elk veld één keer. Een veelvoorkomende oorzaak is een basis-URL die al een query string heeft.',
  },
  'parameter-unknown': {
    happened:
      'De API heeft geen parameter met deze naam. Hij kan verkeerd gespeld zijn, zoals `toevoging` en `Toevoeging`, of de naam zijn die ' +
      'een andere API gebruikt, zoals `huisletter`, `house_number` of `addition`. Zonder die waarde kan het antwoord een ander adres zijn.',
    remedy:
      'Stuur het nummer als `huisnummer`, en huisletter en huisnummertoevoeging aan elkaar als `toevoeging`: `huisletter=b` en ' +
      '`huisnummertoevoeging=99` worden `toevoeging=b99`. Waar de juiste waarde af te leiden is, staat die in `suggestion`. Laat elke ' +
      'andere parameter weg, ook als hij leeg is.',
  },
  'misplaced-key': {
    happened:
      'Een parameter bevat een API-sleutel. Een query string wordt bewaard in logs, geschiedenissen en proxy’s, dus de sleutel is ' +
      'niet meer geheim.',
    remedy:
      'Stuur de sleutel alleen in de header `X-API-Key`. Vraag uw leverancier om een nieuwe sleutel en laat deze intrekken.',
  },
  'postcode-character': {
    happened:
      'De postcode heeft andere tekens dan ASCII-letters, cijfers en spaties, zoals een streepje, een punt of een tab.',
    remedy: postcodeForm,
  },
  'postcode-leading-zero': {
    happened: 'De postcode begint met 0. Geen enkele Nederlandse postcode doet dat.',
    remedy: postcodeForm,
  },
  'postcode-incomplete': {
    happened: 'De postcode is te kort: er ontbreken cijfers of letters.',
    remedy: postcodeForm,
  },
  'postcode-too-long': {
    happened: 'Er staat iets achter de twee letters van de postcode.',
    remedy: `${postcodeForm} Stuur het nummer als \`huisnummer\`.`,
  },
  'postcode-form': { happened: 'De postcode bestaat niet uit vier cijfers en twee letters.', remedy: postcodeForm },
  'huisnummer-with-toevoeging': {
    happened: 'Het huisnummer bevat een toevoeging, zoals in `12A`.',
    remedy: 'Stuur het nummer als `huisnummer` en alles erachter als `toevoeging`: `huisnummer=12` en `toevoeging=A`.',
  },
  'huisnummer-range': {
    happened: 'Het huisnummer bestaat uit twee nummers, zoals in `12-14`.',
    remedy:
      'Zoek één van de twee op. Is het tweede een toevoeging, stuur het dan als `toevoeging`: `huisnummer=12` en `toevoeging=14`.',
  },
  'huisnummer-space': {
    happened:
      'Het huisnummer begint of eindigt met witruimte: een spatie, een tab of een regeleinde. In een query string is een `+` ook een spatie.',
    remedy: huisnummerForm,
  },
  'huisnummer-sign': {
    happened: 'Het huisnummer heeft een plus- of minteken, zoals in `-12`.',
    remedy: huisnummerForm,
  },
  'huisnummer-decimal': { happened: 'Het huisnummer heeft decimalen, zoals in `12.0`.', remedy: huisnummerForm },
  'huisnummer-zero': { happened: 'Het huisnummer is 0. Huisnummers beginnen bij 1.', remedy: huisnummerForm },
  'huisnummer-too-long': {
    happened: 'Het huisnummer heeft meer dan vijf cijfers, voorloopnullen meegeteld.',
    remedy: huisnummerForm,
  },
  'huisnummer-form': {
    happened: 'Het huisnummer is geen geheel getal van 1 tot en met 99999.',
    remedy: huisnummerForm,
  },
  'toevoeging-character': {
    happened: 'De toevoeging heeft andere tekens dan ASCII-letters, cijfers en spaties, zoals het streepje in `A-2`.',
    remedy: 'Stuur alleen de letters en cijfers, in hun volgorde: `A-2` is `toevoeging=A2`.',
  },
  'toevoeging-too-long': {
    happened: 'De toevoeging heeft meer dan vijf letters en cijfers. Langere staan niet in het register.',
    remedy:
      'Stuur de toevoeging zoals het register haar schrijft: een verdieping is meestal een cijfer of een korte vorm zoals `1`, `2H` ' +
      'of `bis`. Zonder toevoeging noemt de uitkomst `not_found` de toevoegingen die bij het huisnummer bestaan.',
  },
  'include-empty': {
    happened: "`include` heeft geen namen, of een lege: niets tussen twee komma's.",
    remedy: includeForm,
  },
  'include-unknown': {
    happened: '`include` heeft een naam die niet bestaat. Namen zijn in kleine letters, zonder spaties.',
    remedy: includeForm,
  },
  'include-repeated': { happened: '`include` heeft een naam meer dan één keer.', remedy: includeForm },
  'body-form': {
    happened: 'De body is geen JSON-object.',
    remedy: 'Stuur een object met de lijst `addresses` en eventueel `include`, in UTF-8.',
  },
  'member-type': {
    happened: 'Een veld van de body heeft een ander JSON-type dan het moet hebben.',
    remedy:
      'Stuur `addresses` en `include` als lijsten, `postcode` als tekst, `huisnummer` als geheel getal of tekst, en `toevoeging` als tekst of `null`.',
  },
  'unknown-member': {
    happened:
      'De body of een adres heeft een veld dat de API niet heeft: verkeerd gespeld, of van een andere API, zoals `huisletter`.',
    remedy:
      'Stuur wat in `suggestion` staat, of laat het veld weg. Een adres heeft `postcode`, `huisnummer` en `toevoeging`; de body heeft `addresses` en `include`.',
  },
  'addresses-count': {
    happened: '`addresses` is leeg of heeft meer dan 100 adressen.',
    remedy: 'Stuur 1 tot 100 adressen per verzoek.',
  },
  'quota-exceeded': {
    happened:
      'Het account heeft zijn quotum in een of meer tijdvensters verbruikt; `violated_windows` noemt ze. Het quotum hoort bij het ' +
      'account, dus alle sleutels delen het. Dit verzoek telde niet mee.',
    remedy:
      'Wacht het aantal seconden in `Retry-After` en probeer het dan opnieuw. Een 429 met alleen een `message` komt van API Gateway: te ' +
      'veel verzoeken per seconde, van alle accounts samen; wacht een seconde en probeer het dan opnieuw. De headers `RateLimit-Policy` en `RateLimit` van elke ' +
      'zoekopdracht geven aan hoeveel er over is, zodat een client op tijd kan vertragen. Gebeurt dit vaak, vraag uw leverancier ' +
      'dan om een groter abonnement.',
  },
  'internal-error': {
    happened: 'Er is een onverwachte fout opgetreden. Dit verzoek kan zijn meegeteld voor uw quotum.',
    remedy:
      'Probeer het nog één keer. Blijft de fout optreden, stuur dan de `request_id` naar uw leverancier, die daarmee de oorzaak kan vinden.',
  },
  'temporarily-unavailable': {
    happened:
      'Een onderdeel van de dienst antwoordde niet op tijd. Een zoekopdracht die niet geteld kan worden, wordt nooit beantwoord. Dit ' +
      'verzoek kan zijn meegeteld voor uw quotum.',
    remedy:
      'Wacht het aantal seconden in `Retry-After` en probeer het dan opnieuw, een paar keer, met steeds langere pauzes.',
  },
};
