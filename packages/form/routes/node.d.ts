/**
 * The answer for a query such as `postcode=1012RJ&huisnummer=147&toevoeging=`, to be sent as JSON.
 */
export declare function lookUp(
  query: URLSearchParams,
  onFailure: (message: string) => void,
): Promise<{ status: string }>;
