import { connect } from 'node:net';
import { GossipClient } from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip, { type MemberInfo } from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { Metadata } from '@grpc/grpc-js';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import type { ServerSettings } from './server-settings.ts';

/**
 * Explains an outage by what the nodes know about their cluster.
 * @param answerMs how long each node has for its answer
 * @returns null if no node answers, or if its leader can be reached
 */
export async function explainByCluster(settings: ServerSettings, answerMs: number): Promise<UnavailableCause | null> {
  const views = await Promise.all(settings.seeds.map((seed) => membersBy(seed, settings, answerMs)));
  const answers = views.filter((members) => members !== null);
  const [first] = answers;
  if (first === undefined) return null;
  const leaders = addressesOf(answers.flat().filter(isLeader));
  if (leaders.length === 0) return noLeader(first);
  const reached = await Promise.all(leaders.map((address) => accepts(address, answerMs)));
  // Another node may still name the leader that failed.
  return reached.includes(true) ? null : unreachableLeader(leaders.join(', '));
}

function noLeader(members: ReadonlyArray<MemberInfo>): UnavailableCause {
  const alive = members.filter((member) => member.getIsAlive()).length;
  const hasMajority = alive > members.length / 2;
  const reason = hasMajority ? 'they start, or elect one' : 'a leader needs a majority: start the others';
  return {
    detail: `the cluster has no leader (alive nodes: ${alive} of ${members.length}); ${reason}`,
    isPermanent: false,
  };
}

function unreachableLeader(address: string): UnavailableCause {
  return {
    detail:
      'the cluster advertises an address of its leader that cannot be reached from here: unless the leader has just failed, set AdvertiseHostToClientAs and AdvertiseNodePortToClientAs (or NodeHostAdvertiseAs) on its nodes',
    isPermanent: false,
    address,
  };
}

/** Returns the members that a node knows; null if it does not answer. A node without a leader answers too. */
function membersBy(
  address: string,
  { credentials, channelOptions }: ServerSettings,
  answerMs: number,
): Promise<ReadonlyArray<MemberInfo> | null> {
  const client = new GossipClient(address, credentials, channelOptions);
  return new Promise((resolve) => {
    const deadline = new Date(Date.now() + answerMs);
    client.read(new shared.Empty(), new Metadata(), { deadline }, (error, info) => {
      client.close();
      resolve(error === null ? info.getMembersList() : null);
    });
  });
}

function isLeader(member: MemberInfo): boolean {
  return member.getIsAlive() && member.getState() === gossip.MemberInfo.VNodeState.LEADER;
}

function addressesOf(members: ReadonlyArray<MemberInfo>): ReadonlyArray<string> {
  const addresses = members.flatMap((member) => {
    const endPoint = member.getHttpEndPoint();
    return endPoint === undefined ? [] : [`${endPoint.getAddress()}:${endPoint.getPort()}`];
  });
  return [...new Set(addresses)];
}

/** Whether something accepts a connection at `host:port`. */
function accepts(address: string, withinMs: number): Promise<boolean> {
  const colon = address.lastIndexOf(':');
  return new Promise((resolve) => {
    const socket = connect({
      host: address.slice(0, colon),
      port: Number(address.slice(colon + 1)),
      timeout: withinMs,
    });
    const end = (isReached: boolean) => {
      socket.destroy();
      resolve(isReached);
    };
    socket.once('connect', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}
