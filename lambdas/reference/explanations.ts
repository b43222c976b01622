import type { FaultCode } from '../../core/contract.ts';
import type { ProblemCode } from '../http/problem.ts';
import type { Language } from './request.ts';

/** Everything that has its own page under `/problems/`. */
export type ExplainedCode = ProblemCode | FaultCode;

/** What happened, and what a consumer does about it; `code` spans are between backticks. */
export type Explanation = { happened: string; remedy: string };

const postcodeForm = {
  en: 'Send four digits, the first not 0, and two letters, such as `1012JS`. Spaces and letter case do not matter.',
  nl: 'Stuur vier cijfers, waarvan het eerste geen 0 is, en twee letters, zoals `1012JS`. Spaties en hoofdletters maken niet uit.',
};
const huisnummerForm = {
  en: 'Send digits only, at most five, from `1` to `99999`.',
  nl: 'Stuur alleen cijfers, hoogstens vijf, van `1` tot en met `99999`.',
};

const english: Record<ExplainedCode, Explanation> = {
  unauthorized: {
    happened:
      'The request had no valid API key. The header `X-API-Key` is missing or malformed, or the key is unknown, wrong or revoked. ' +
      'The response is the same in all of these cases, so that it does not reveal which.',
    remedy:
      'Send the complete key in the header `X-API-Key`; it begins with `bagadres_`. A key in the query string is not read. If the ' +
      'key used to work, it has been revoked: ask your provider for a new one. Do not retry with the same key.',
  },
  'account-inactive': {
    happened: 'The key is valid, but its account is suspended. The request did not count against the quota.',
    remedy: 'Ask your provider to activate the account. The same key works again from that moment.',
  },
  'plan-inactive': {
    happened:
      "The key and its account are valid, but the account's plan is no longer active. The request did not count against the quota.",
    remedy: 'Ask your provider to move the account to another plan. The key stays the same.',
  },
  'not-found': {
    happened:
      'There is nothing at this path. An address that is not in the register is not an error: that is a response with status 200 ' +
      'and the outcome `not_found`.',
    remedy:
      'Compare the path with the reference. Paths are case-sensitive, begin with `/v1/` and do not end in a slash.',
  },
  'method-not-allowed': {
    happened: 'The path exists, but does not support this method; the header `Allow` names the one that it does.',
    remedy: 'Use `GET`, with the parameters in the query string.',
  },
  'invalid-input': {
    happened:
      'One or more parameters are invalid. No address was looked up, and the request did not count against the quota. `errors` has ' +
      'one entry for each fault: the name of the `parameter`, a stable `code`, and a `detail` that says what to send instead. Where that is clear, ' +
      '`suggestion` has it for a program: the parameters to send, with their values.',
    remedy:
      'Correct every parameter that `errors` names and send the request again. The same request always gets the same response.',
  },
  missing: {
    happened: 'A required parameter is absent, empty, or has only spaces.',
    remedy: 'Send `postcode` and `huisnummer` with every lookup; only `toevoeging` is optional.',
  },
  duplicate: {
    happened: 'A parameter was sent more than once.',
    remedy: 'Send each parameter once. A common cause is a base URL that already has a query string.',
  },
  'wrong-name': {
    happened:
      'A parameter has the name that another API uses for a part of an address, such as `huisletter`, `huisnummertoevoeging` or ' +
      '`house_number`, or a misspelled name, such as `toevoging` or `Toevoeging`. Ignoring it could return another address.',
    remedy:
      'Send the number as `huisnummer`, and huisletter and huisnummertoevoeging joined as `toevoeging`: `huisletter=b` and ' +
      '`huisnummertoevoeging=99` become `toevoeging=b99`. `suggestion` has the value to send where it can be derived. Leave the ' +
      'parameter out, even when it is empty.',
  },
  'misplaced-key': {
    happened:
      'A parameter has an API key. A query string is kept in logs, histories and proxies, so the key is no longer secret.',
    remedy: 'Send the key in the header `X-API-Key` only. Ask your provider for a new key, and have this one revoked.',
  },
  'postcode-character': {
    happened:
      'The postcode has characters other than ASCII letters, digits and spaces, such as a hyphen, a dot or a tab.',
    remedy: postcodeForm.en,
  },
  'postcode-leading-zero': { happened: 'The postcode begins with 0. No Dutch postcode does.', remedy: postcodeForm.en },
  'postcode-incomplete': {
    happened: 'The postcode ends too early: digits or letters are missing.',
    remedy: postcodeForm.en,
  },
  'postcode-too-long': {
    happened: 'There is something after the two letters of the postcode.',
    remedy: `${postcodeForm.en} Send the number as \`huisnummer\`.`,
  },
  'postcode-form': { happened: 'The postcode is not four digits followed by two letters.', remedy: postcodeForm.en },
  'huisnummer-with-toevoeging': {
    happened: 'The huisnummer includes an addition, as in `12A`.',
    remedy:
      'Send the number as `huisnummer` and everything after it as `toevoeging`: `huisnummer=12` and `toevoeging=A`.',
  },
  'huisnummer-range': {
    happened: 'The huisnummer has two numbers, as in `12-14`.',
    remedy:
      'Look up one of them. If the second is an addition, send it as `toevoeging`: `huisnummer=12` and `toevoeging=14`.',
  },
  'huisnummer-space': {
    happened:
      'The huisnummer begins or ends with white space: a space, a tab or a line break. In a query string a `+` is a space too.',
    remedy: huisnummerForm.en,
  },
  'huisnummer-sign': { happened: 'The huisnummer has a plus or minus sign, as in `-12`.', remedy: huisnummerForm.en },
  'huisnummer-decimal': { happened: 'The huisnummer has decimals, as in `12.0`.', remedy: huisnummerForm.en },
  'huisnummer-zero': { happened: 'The huisnummer is 0. House numbers begin at 1.', remedy: huisnummerForm.en },
  'huisnummer-too-long': {
    happened: 'The huisnummer has more than five digits, leading zeros included.',
    remedy: huisnummerForm.en,
  },
  'huisnummer-form': { happened: 'The huisnummer is not a whole number from 1 to 99999.', remedy: huisnummerForm.en },
  'toevoeging-character': {
    happened: 'The toevoeging has characters other than ASCII letters, digits and spaces, such as the hyphen in `A-2`.',
    remedy: 'Send the letters and digits alone, in their order: `A-2` is `toevoeging=A2`.',
  },
  'toevoeging-too-long': {
    happened: 'The toevoeging has more than five letters and digits. The register has no longer ones.',
    remedy:
      'Send it as the register writes it: a floor is mostly a digit or a short form such as `1`, `2H` or `bis`. Without any ' +
      'addition, the outcome `not_found` lists those that exist at the huisnummer.',
  },
  'quota-exceeded': {
    happened:
      'The account has used up its quota in one or more time windows; `violated_windows` names them. The quota belongs to the ' +
      'account, so all its keys share it. This request did not count against it.',
    remedy:
      'Wait for the number of seconds in `Retry-After`, then try again. A 429 with only a `message` is from API Gateway: too many ' +
      'requests a second, of all accounts together; wait a second, then try again. The headers `RateLimit-Policy` and `RateLimit` of every ' +
      'lookup say how much is left, so that a client can slow down in time. If this happens often, ask your provider for a larger plan.',
  },
  'internal-error': {
    happened: 'An unexpected error occurred. This request may have counted against your quota.',
    remedy:
      'Try again once. If the error persists, send the `request_id` to your provider, who can find the cause with it.',
  },
  'temporarily-unavailable': {
    happened:
      'A part of the service did not respond in time. A lookup that can not be counted is never answered. This request may have ' +
      'counted against your quota.',
    remedy:
      'Wait for the number of seconds in `Retry-After`, then try again, a few times, with longer and longer waits.',
  },
};

const dutch: Record<ExplainedCode, Explanation> = {
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
    remedy: 'Gebruik `GET`, met de parameters in de query string.',
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
    remedy: 'Stuur `postcode` en `huisnummer` bij elke zoekopdracht; alleen `toevoeging` mag ontbreken.',
  },
  duplicate: {
    happened: 'Een parameter is meer dan één keer gestuurd.',
    remedy:
      'Stuur elke parameter één keer. Een veelvoorkomende oorzaak is een basis-URL die al een query string heeft.',
  },
  'wrong-name': {
    happened:
      'Een parameter heeft de naam die een andere API voor een deel van een adres gebruikt, zoals `huisletter`, ' +
      '`huisnummertoevoeging` of `house_number`, of een verkeerd gespelde naam, zoals `toevoging` of `Toevoeging`. Zonder die waarde ' +
      'kan het antwoord een ander adres zijn.',
    remedy:
      'Stuur het nummer als `huisnummer`, en huisletter en huisnummertoevoeging aan elkaar als `toevoeging`: `huisletter=b` en ' +
      '`huisnummertoevoeging=99` worden `toevoeging=b99`. Waar de juiste waarde af te leiden is, staat die in `suggestion`. Laat de ' +
      'parameter weg, ook als hij leeg is.',
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
    remedy: postcodeForm.nl,
  },
  'postcode-leading-zero': {
    happened: 'De postcode begint met 0. Geen enkele Nederlandse postcode doet dat.',
    remedy: postcodeForm.nl,
  },
  'postcode-incomplete': {
    happened: 'De postcode is te kort: er ontbreken cijfers of letters.',
    remedy: postcodeForm.nl,
  },
  'postcode-too-long': {
    happened: 'Er staat iets achter de twee letters van de postcode.',
    remedy: `${postcodeForm.nl} Stuur het nummer als \`huisnummer\`.`,
  },
  'postcode-form': { happened: 'De postcode bestaat niet uit vier cijfers en twee letters.', remedy: postcodeForm.nl },
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
    remedy: huisnummerForm.nl,
  },
  'huisnummer-sign': {
    happened: 'Het huisnummer heeft een plus- of minteken, zoals in `-12`.',
    remedy: huisnummerForm.nl,
  },
  'huisnummer-decimal': { happened: 'Het huisnummer heeft decimalen, zoals in `12.0`.', remedy: huisnummerForm.nl },
  'huisnummer-zero': { happened: 'Het huisnummer is 0. Huisnummers beginnen bij 1.', remedy: huisnummerForm.nl },
  'huisnummer-too-long': {
    happened: 'Het huisnummer heeft meer dan vijf cijfers, voorloopnullen meegeteld.',
    remedy: huisnummerForm.nl,
  },
  'huisnummer-form': {
    happened: 'Het huisnummer is geen geheel getal van 1 tot en met 99999.',
    remedy: huisnummerForm.nl,
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

/** The one text on each problem and each code of a 422: its page, the reference and the OpenAPI document are made from it. */
export const explanations: Record<Language, Record<ExplainedCode, Explanation>> = { en: english, nl: dutch };
