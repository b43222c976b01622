/** The route that <bag-adres-form> asks, for Node and whatever else has `fetch`. The key stays on this side. */
const { BAG_ADRES_URL = '', BAG_ADRES_KEY = '' } = process.env;

/**
 * The answer for a query such as `postcode=1012RJ&huisnummer=147&toevoeging=`, to be sent as JSON.
 * @param {URLSearchParams} query
 * @param {(message: string) => void} onFailure
 */
export async function lookUp(query, onFailure) {
  const asked = new URLSearchParams({ include: 'toevoegingen,gemeente' });
  for (const name of ['postcode', 'huisnummer', 'toevoeging']) asked.set(name, query.get(name) ?? '');
  try {
    const url = `${BAG_ADRES_URL.replace(/\/+$/, '')}/v1/address?${asked}`;
    const response = await fetch(url, { headers: { 'X-API-Key': BAG_ADRES_KEY }, signal: AbortSignal.timeout(3_000) });
    if (response.status === 200) return await response.json();
    if (response.status === 422) return { ...(await response.json()), status: 'invalid' };
    onFailure(`The lookup failed with status ${response.status}.`);
  } catch (error) {
    onFailure(`The lookup failed: ${error}`);
  }
  return { status: 'unavailable' }; // People type. The cause is ours to log, not theirs to read.
}
