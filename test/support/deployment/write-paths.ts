import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathsOfPlanes, withGatewayPaths } from './paths-of-planes.ts';

// `npm run paths`: writes what the proxy and the nodes must know of the paths of operations.
const root = join(import.meta.dirname, '../../..');
const caddyfile = join(root, 'deployment/Caddyfile');
const paths = pathsOfPlanes();

writeFileSync(caddyfile, withGatewayPaths(readFileSync(caddyfile, 'utf8'), paths));
writeFileSync(join(root, 'src/http/routes/paths-of-planes.json'), `${JSON.stringify(paths, null, 2)}\n`);
