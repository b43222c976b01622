/** A route of the API: `$default`, or a method (or `ANY`) and a path with `{name}` and, at its end, `{name+}`. */
export interface Route<Target> {
  readonly key: string;
  readonly target: Target;
}

/** The route of a request; `pathParameters` is absent when the route has none. */
export interface RouteMatch<Target> {
  readonly route: Route<Target>;
  readonly pathParameters?: Record<string, string>;
}

/** Selects a route as API Gateway does: a full match, then a greedy one, then `$default`; a method before `ANY`. */
export function matchRoute<Target>(
  routes: readonly Route<Target>[],
  method: string,
  path: string,
): RouteMatch<Target> | undefined {
  const matches = routes.flatMap((route) => {
    const [routeMethod = '', routePath] = route.key.split(' ');
    if (routePath === undefined || (routeMethod !== method && routeMethod !== 'ANY')) return [];
    const parameters = pathParameters(routePath, path);
    if (parameters === undefined) return [];
    return [{ route, parameters, rank: rank(routePath, routeMethod) }];
  });
  const [best] = matches.sort((a, b) => a.rank - b.rank);
  if (best !== undefined) {
    return best.parameters.size === 0
      ? { route: best.route }
      : { route: best.route, pathParameters: Object.fromEntries(best.parameters) };
  }
  const fallback = routes.find(({ key }) => key === '$default');
  return fallback && { route: fallback };
}

/** The lowest rank wins: few variables before many, greedy ones last, and a method before `ANY`. */
function rank(routePath: string, routeMethod: string): number {
  const greedy = routePath.endsWith('+}') ? 1_000 : 0;
  return greedy + 2 * routePath.split('{').length + (routeMethod === 'ANY' ? 1 : 0);
}

function pathParameters(routePath: string, path: string): Map<string, string> | undefined {
  const wanted = routePath.split('/');
  const given = path.split('/');
  const parameters = new Map<string, string>();
  for (const [index, part] of wanted.entries()) {
    const value = given[index];
    const name = /^\{(.+?)(\+?)\}$/.exec(part);
    if (name?.[2] === '+') {
      const rest = given.slice(index).join('/');
      return rest === '' ? undefined : parameters.set(name[1] ?? '', rest);
    }
    if (value === undefined || (name === null ? value !== part : value === '')) return undefined;
    if (name !== null) parameters.set(name[1] ?? '', value);
  }
  return wanted.length === given.length ? parameters : undefined;
}
