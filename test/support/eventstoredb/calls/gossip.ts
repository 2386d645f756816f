import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import type { ClusterMember } from '#test/support/eventstoredb/membership.ts';
import { uuidMessage } from './messages.ts';

const { LEADER, FOLLOWER, UNKNOWN } = gossip.MemberInfo.VNodeState;

const stateOf = { leader: LEADER, follower: FOLLOWER, unknown: UNKNOWN } as const;

/** The answer to gossip about the members of a cluster. */
export function clusterInfo(members: ReadonlyArray<ClusterMember>): InstanceType<typeof gossip.ClusterInfo> {
  const messages = members.map(({ endpoint, role, isAlive, instanceId }) =>
    new gossip.MemberInfo()
      .setInstanceId(uuidMessage(instanceId, 'structured'))
      .setTimeStamp(`${Date.now()}0000`)
      .setState(stateOf[role])
      .setIsAlive(isAlive)
      .setHttpEndPoint(new gossip.EndPoint().setAddress(endpoint.host).setPort(endpoint.port)),
  );
  return new gossip.ClusterInfo().setMembersList(messages);
}
