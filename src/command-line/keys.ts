import { generateKey } from '#operations/fresh-secret.ts';
import { StartFailure } from '../start-failure.ts';
import { type LocalService, openLocalService } from './local-service.ts';
import { runTool } from './run-tool.ts';

const usage = `Usage: npm run keys -- <command>

  generate   prints a new text for BOOTSTRAP_API_KEY, which sets the first admin key of an empty store
  admin      makes another admin key, in the first project, and prints it: for whoever has lost the last one

admin talks to the service that runs on DATA_DIR, or opens the stores itself when none runs. Any other key is made with
POST /v1/projects/{projectId}/keys.
`;

await runTool('keys', run);

async function run(words: ReadonlyArray<string>): Promise<number> {
  switch (words.join(' ')) {
    case 'generate':
      return tell(generateKey());
    case 'admin':
      return makeAdminKey();
    default:
      process.stderr.write(usage);
      return 1;
  }
}

async function makeAdminKey(): Promise<number> {
  const service = await openLocalService();
  try {
    const { projects } = await answered(service, 'GET', '/v1/projects?limit=1');
    const name = 'Made at the command line';
    const { key } = await answered(service, 'POST', `/v1/projects/${projects[0].id}/keys`, { name, keyType: 'admin' });
    return tell(key);
  } finally {
    await service.close();
  }
}

/** @throws StartFailure with what a refusal says */
async function answered(service: LocalService, ...request: Parameters<LocalService['call']>) {
  const { status, body } = await service.call(...request);
  if (status >= 300) throw new StartFailure(body.detail);
  return body;
}

function tell(key: string): number {
  process.stdout.write(`${key}\n`);
  return 0;
}
