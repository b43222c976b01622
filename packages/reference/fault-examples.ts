import type { BodyFaultCode } from '../../core/contract.ts';

/**
 * An example for each code: a refused query of `/v1/address`, or body of `/v1/addresses`.
 * `include-unavailable` has no example, because no page names a field that its operator has not
 * turned on, and `value-too-long` has none, because it would be too long for a page.
 */
export const faultExamples: Readonly<
  Record<Exclude<BodyFaultCode, 'include-unavailable' | 'value-too-long'>, string>
> = {
  missing: 'postcode=1012JS',
  duplicate: 'postcode=1012JS&huisnummer=1&huisnummer=2',
  'parameter-unknown': 'postcode=1012JS&huisnummer=1&huisletter=A',
  'misplaced-key': 'postcode=1012JS&huisnummer=1&key=bagadres_...',
  'postcode-character': 'postcode=1012-JS&huisnummer=1',
  'postcode-leading-zero': 'postcode=0123AB&huisnummer=1',
  'postcode-incomplete': 'postcode=1012J&huisnummer=1',
  'postcode-too-long': 'postcode=1012JS1&huisnummer=1',
  'postcode-form': 'postcode=JS1012&huisnummer=1',
  'huisnummer-with-toevoeging': 'postcode=1012JS&huisnummer=12A',
  'huisnummer-range': 'postcode=1012JS&huisnummer=12-14',
  'huisnummer-space': 'postcode=1012JS&huisnummer=12+',
  'huisnummer-sign': 'postcode=1012JS&huisnummer=-12',
  'huisnummer-decimal': 'postcode=1012JS&huisnummer=12.0',
  'huisnummer-zero': 'postcode=1012JS&huisnummer=0',
  'huisnummer-too-long': 'postcode=1012JS&huisnummer=123456',
  'huisnummer-form': 'postcode=1012JS&huisnummer=twelve',
  'toevoeging-character': 'postcode=1012JS&huisnummer=1&toevoeging=A-2',
  'toevoeging-too-long': 'postcode=1012JS&huisnummer=1&toevoeging=LINKS2',
  'include-empty': 'postcode=1012JS&huisnummer=1&include=',
  'include-unknown': 'postcode=1012JS&huisnummer=1&include=straat',
  'include-repeated': 'postcode=1012JS&huisnummer=1&include=gemeente,gemeente',
  'body-form': '[]',
  'member-type': '{"addresses": [{"postcode": "1012JS", "huisnummer": true}]}',
  'unknown-member': '{"addresses": [{"postcode": "1012JS", "huisnummer": 1, "huisletter": "A"}]}',
  'addresses-count': '{"addresses": []}',
};
