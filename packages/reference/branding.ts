import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { type Environment, environment } from '../../core/environment.ts';
import { languages } from '../../core/languages.ts';
import { linkFields } from '../ui/links.ts';

/**
 * How the pages and the OpenAPI document present the operator: the field `branding` of the
 * configuration.
 */
const brandingSchema = z.object({
  name: z.optional(z.string()),
  colour: z._default(z.string(), '#0b4f8a'),
  logoType: z.optional(z.enum(['image/svg+xml', 'image/png'])),
  ...linkFields,
  languages: z.optional(z.array(z.enum(languages))),
  /** A `data:` URL, on one machine; deployed, the file is in the bundle. */
  logo: z.optional(z.string()),
  portalUrl: z.optional(z.string()),
});

export type Branding = z.infer<typeof brandingSchema>;

/** The branding of a deployment. The build copies the logo into the bundle. */
export function readBranding(variables: Environment): Branding {
  const branding = brandingSchema.parse(JSON.parse(variables[environment.branding] || '{}'));
  if (!branding.logoType) return branding;
  const logo = readFileSync(join(import.meta.dirname, 'logo')).toString('base64');
  return { ...branding, logo: `data:${branding.logoType};base64,${logo}` };
}
