import { generateKey } from '#application/commands/new-values.ts';
import { runTool } from '#cli/shared/command-line.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { unknownWord } from './shared/command-line.ts';
import { type LocalService, openLocalService } from './shared/local-service.ts';

const usage = `Usage: npm run keys -- <command>

  generate               prints a new text for BOOTSTRAP_API_KEY, which sets the first admin key of an empty store
  admin                  makes another admin key, in the first project, and prints it, for a user who has lost the last one
  revoke-before <time>   ends every secret issued before a time (RFC 3339, or "now"), whichever key it belongs to, then
                         makes a new admin key and prints it: after a backup was restored, which lacks the revocations
                         made since

admin and revoke-before talk to the service that runs on DATA_DIR, or open the stores themselves when none runs. Any
other key is made with POST /v1/projects/{projectId}/keys.
`;

await runTool('keys', usage, run);

async function run([command, ...words]: ReadonlyArray<string>): Promise<number | null> {
  const [time] = words;
  if (command === 'revoke-before' && time !== undefined && words.length === 1)
    return onService((s) => revokeBefore(s, time));
  if (command === 'generate' && words.length === 0) return printKey(generateKey());
  if (command === 'admin' && words.length === 0)
    return onService(async (service) => printKey(await adminKeyOf(service)));
  const commands = ['generate', 'admin', 'revoke-before'];
  if (command !== undefined && !commands.includes(command)) throw unknownWord('keys', command, commands);
  const surplus = command === 'revoke-before' ? words[1] : words[0];
  if (command !== undefined && surplus !== undefined) throw unknownWord('keys', surplus, []);
  return null;
}

async function onService(work: (service: LocalService) => Promise<number>): Promise<number> {
  const service = await openLocalService();
  try {
    return await work(service);
  } finally {
    await service.close();
  }
}

async function revokeBefore(service: LocalService, time: string): Promise<number> {
  const named = time === 'now' ? new Date().toISOString() : time;
  const { issuedBefore } = await answered(service, 'POST', '/v1/keys/revoke-before', { time: named });
  try {
    return printKey(await adminKeyOf(service));
  } catch (error) {
    if (!(error instanceof StartupError)) throw error;
    throw new StartupError(
      `Every secret issued before ${issuedBefore} has ended, but no new admin key was made: ${error.message} Make one with: npm run keys -- admin`,
    );
  }
}

async function adminKeyOf(service: LocalService): Promise<string> {
  const { projects } = await answered(service, 'GET', '/v1/projects?limit=1');
  const name = 'Made at the command line';
  const { key } = await answered(service, 'POST', `/v1/projects/${projects[0].id}/keys`, { name, keyType: 'admin' });
  return key;
}

/** @throws StartupError with what a refusal says */
async function answered(service: LocalService, ...request: Parameters<LocalService['call']>) {
  const { status, body } = await service.call(...request);
  if (status >= 300) throw new StartupError(body.detail);
  return body;
}

function printKey(key: string): number {
  process.stdout.write(`${key}\n`);
  return 0;
}
