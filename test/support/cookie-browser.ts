/**
 * A browser without a screen, which keeps the cookies of each server. `send` makes its requests:
 * `fetch`, or an app in this process.
 */
export function cookieBrowser(
  send: (url: string, init: RequestInit) => Response | Promise<Response> = fetch,
) {
  const jars = new Map<string, Map<string, string>>();

  /** The cookies of the server at this URL. */
  function jarOf(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    return jar;
  }

  /** Makes one request. */
  async function get(url: string, init: RequestInit = {}) {
    const jar = jarOf(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      'accept-language': 'en',
      'user-agent': 'Firefox',
      ...(init.headers as object),
      cookie,
    };
    const response = await send(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0|1970/.test(line)) jar.delete(name);
      else {
        jar.set(name, value);
      }
    }
    return {
      status: response.status,
      location: response.headers.get('location'),
      body: await response.text(),
      url,
    };
  }

  /** Makes a request and follows where it leads. */
  async function go(url: string, init: RequestInit = {}): ReturnType<typeof get> {
    const answer = await get(url, init);
    return answer.location ? go(new URL(answer.location, url).href) : answer;
  }

  return { get, go, jarOf };
}
