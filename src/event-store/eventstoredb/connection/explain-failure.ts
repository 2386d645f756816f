import { connect } from 'node:tls';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { callCauseOf, callFailure, isAccessRefusal, isLoginRefusal } from './call-failure.ts';
import { type AskedCluster, explainByCluster } from './cluster-view.ts';
import type { ServerSettings } from './server-settings.ts';

/** Time limit of a server's part of an explanation. */
const answerMs = 500;

/**
 * The failure alone does not show whether the cluster has a leader; the gossip of its nodes does.
 * @param missingRight what the user may not do if the server denies access
 */
export async function explainFailure(
  cluster: AskedCluster,
  failure: unknown,
  missingRight = readingAll,
): Promise<UnavailableCause> {
  const refusal = callFailure(failure);
  const isDenied = isAccessRefusal(refusal);
  if ((isLoginRefusal(refusal) || isDenied) && !cluster.settings.hasUser) return needsUser;
  if (isDenied) return { detail: `the user in EVENT_STORE_URL lacks rights: ${missingRight}`, isPermanent: true };
  const cause = callCauseOf(failure);
  if (cause.isPermanent) return cause;
  const [needsTls, ofCluster] = await Promise.all([
    requiresTls(cluster.settings),
    explainByCluster(cluster, failure, answerMs),
  ]);
  return needsTls ? speaksTls : (ofCluster ?? cause);
}

const readingAll = 'reading `$all` needs `$admins`, or a place in its access list and in those of the streams';

const needsUser: UnavailableCause = {
  detail: 'the server needs a user, and EVENT_STORE_URL has none: esdb://user:password@host (percent-encoded)',
  isPermanent: true,
};

const speaksTls: UnavailableCause = {
  detail: 'EVENT_STORE_URL says tls=false and the server speaks TLS: use tls=true',
  isPermanent: true,
};

/**
 * True if the URL has `tls=false`, and a server requires TLS. Such a server closes a plain connection, which looks like
 * a server that is not there.
 */
async function requiresTls({ isSecure, seeds }: ServerSettings): Promise<boolean> {
  if (isSecure) return false;
  const answers = await Promise.all(seeds.map(acceptsTls));
  return answers.includes(true);
}

function acceptsTls(address: string): Promise<boolean> {
  const url = URL.parse(`tls://${address}`);
  if (url === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    // Tests only the handshake and sends no data.
    const socket = connect({
      host: url.hostname,
      port: Number(url.port),
      rejectUnauthorized: false,
      timeout: answerMs,
    });
    const end = (accepts: boolean) => {
      socket.destroy();
      resolve(accepts);
    };
    socket.once('secureConnect', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}
