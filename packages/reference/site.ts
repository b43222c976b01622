import { type Environment, environment, optionalEnvironment } from '../../core/environment.ts';
import type { IncludeName } from '../../core/place-fields.ts';
import { offeredIn } from '../../core/place-fields.ts';
import { type Branding, readBranding } from './branding.ts';
import { OpenApi } from './openapi-document.ts';
import { hasDocsIn } from './published.ts';

export type Site = {
  branding: Branding;
  /** The URL that the documents name, if the operator has set it. */
  publicUrl: string | undefined;
  /** Whether it shows the page with the reference. */
  hasDocs: boolean;
  /** What `include` can name. */
  offered: readonly IncludeName[];
  api: OpenApi;
};

/** The site of a deployment, by the variables of its function. */
export function siteOf(variables: Environment): Site {
  const offered = offeredIn(variables);
  return {
    branding: readBranding(variables),
    publicUrl: optionalEnvironment(environment.publicUrl, variables),
    hasDocs: hasDocsIn(variables),
    offered,
    api: new OpenApi(offered),
  };
}
