import type { LookupAddress, lookup as systemLookup } from 'node:dns';
import type { Agent } from 'node:http';
import { BlockList, isIP, type LookupFunction, type Socket, type TcpNetConnectOpts } from 'node:net';
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from 'request-filtering-agent';

export type Lookup = typeof systemLookup;

/** Nothing outside of it was ever given out, and the library's table of what is private does not name all of the rest. */
const globalV6 = new BlockList();
globalV6.addSubnet('2000::', 3, 'ipv6');

const everything = new BlockList();
everything.addSubnet('0.0.0.0', 0, 'ipv4');
everything.addSubnet('::', 0, 'ipv6');

/** By the library's judgement, or by the check that it lacks. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof UnassignedAddressError) return true;
  return error instanceof Error && /^DNS lookup .+ is not allowed\. Because/.test(error.message);
}

class UnassignedAddressError extends Error {
  override readonly name = 'UnassignedAddressError';
}

/** An agent for one request, which looks at the very addresses that it connects to. One that is refused spoils the name. */
export function guardedAgent(protocol: string): Agent {
  return protocol === 'https:' ? new RequestFilteringHttpsAgent() : new RequestFilteringHttpAgent();
}

/** A look-up that fails for IPv6 addresses outside of what is given out. */
export function assignedOnly(lookup: Lookup): LookupFunction {
  return (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[] = []) => {
      const [first] = addresses;
      if (error !== null || first === undefined) callback(error ?? new Error('the name has no address'), '', 0);
      else if (addresses.some(({ address }) => isUnassigned(address))) callback(new UnassignedAddressError(), '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}

/** An IPv6 address outside of what is given out for the public Internet. */
export function isUnassigned(address: string): boolean {
  return isIP(address) === 6 && !globalV6.check(address, 'ipv6');
}

/** Whether a host, a name or an address, leads to an address that is refused. One that cannot be resolved does not. */
export async function leadsToRefused(host: string, lookup: Lookup): Promise<boolean> {
  if (isUnassigned(host)) return true;
  const { promise, resolve } = Promise.withResolvers<boolean>();
  // The library judges connections alone. So it is shown one that goes nowhere: what it lets pass, the block list stops.
  const options = { host, port: 443, blockList: everything, lookup: assignedOnly(lookup) };
  const agent = new RequestFilteringHttpAgent();
  const socket = agent.createConnection(options as TcpNetConnectOpts) as Socket;
  socket.once('error', (error) => resolve(isRefusal(error)));
  socket.once('close', () => resolve(false));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}
