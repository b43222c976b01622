#!/usr/bin/env node
/** The command line of the installed package; a clone has `local/launch.js`. */
import module from 'node:module';
import { join } from 'node:path';

// The requirement of its packages; `engines` of the package says the same.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  console.error(
    `bag-adres needs Node 22.12 or newer; this is Node ${process.versions.node}. See https://nodejs.org/en/download.`,
  );
  process.exit(1);
}
// A release has a version of the AWS SDK that runs on these: what later versions need is no concern
// of its user.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
// Later starts find the modules compiled.
module.enableCompileCache();
const tool = process.argv[2] === 'app' ? 'app.js' : undefined;
const entry = join(import.meta.dirname, tool ?? 'bag-adres.js');
process.argv.splice(1, tool ? 2 : 1, entry);
await import(new URL(tool ?? 'bag-adres.js', import.meta.url).href);
