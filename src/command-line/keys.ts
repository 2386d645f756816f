import { generateKey } from '#operations/fresh-secret.ts';

const usage = `Usage: npm run keys -- generate

  generate   prints a new text for BOOTSTRAP_API_KEY, which sets the first admin key of an empty store

Keys of a running service are made with POST /v1/projects/{projectId}/keys.
`;

if (process.argv[2] === 'generate') {
  process.stdout.write(`${generateKey()}\n`);
} else {
  process.stderr.write(usage);
  process.exitCode = 1;
}
