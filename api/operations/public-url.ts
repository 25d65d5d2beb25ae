import { isStorable } from '../../contracts/metadata.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { findUrlFault } from '../../outgoing/url-fault.ts';

/** Throws `invalid_request` for a URL that the gateway will not ask. Its address is looked at again whenever it is asked. */
export async function requirePublicUrl(url: string, field: string, allowedHosts: ReadonlySet<string>): Promise<void> {
  if (!isStorable(url))
    throw new GatewayError('invalid_request', `${field}: it has to be a URL without NUL.`, { field });
  const fault = await findUrlFault(url, allowedHosts);
  if (fault !== null) throw new GatewayError('invalid_request', fault, { field });
}
