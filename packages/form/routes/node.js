/**
 * The route that <bag-adres-form> asks, for Node and whatever else has `fetch`. The key stays on
 * this side.
 */

/**
 * The answer for a query such as `postcode=1012RJ&huisnummer=147&toevoeging=`, to be sent as JSON.
 * It never throws.
 * @param {URLSearchParams} query
 * @param {(message: string) => void} onFailure Gets a fixed text to log: an error of `fetch` can
 * contain the key.
 */
export async function lookUp(query, onFailure) {
  const [url, key] = ['BAG_ADRES_URL', 'BAG_ADRES_KEY'].map((name) =>
    (process.env[name] ?? '').trim(),
  );
  const asked = new URLSearchParams({ include: 'toevoegingen,gemeente' });
  for (const name of ['postcode', 'huisnummer', 'toevoeging'])
    asked.set(name, query.get(name) ?? '');
  let failure =
    'Set BAG_ADRES_URL and BAG_ADRES_KEY to the address of the service and a key of it.';
  if (url && /^bagadres_[\w.-]+$/.test(key)) {
    failure =
      'The lookup failed: no valid response in 3 seconds. Check BAG_ADRES_URL and the connection.';
    try {
      const response = await fetch(`${url.replace(/\/+$/, '')}/v1/address?${asked}`, {
        headers: { 'X-API-Key': key },
        redirect: 'manual',
        signal: AbortSignal.timeout(3_000),
      });
      const { status } = response;
      if (status !== 200 && status !== 422) failure = `The lookup failed with status ${status}.`;
      else {
        const answer = await response.json();
        if (status === 200 && ['ok', 'not_found', 'ambiguous'].includes(answer.status))
          return answer;
        if (status === 422 && Array.isArray(answer.errors)) return { ...answer, status: 'invalid' };
      }
    } catch {
      // No connection, too late, or no JSON.
    }
  }
  onFailure(failure);
  return { status: 'unavailable' }; // People type. The cause is ours to log, not theirs to read.
}
