/** The gateway's own key from the environment. */
export const GATEWAY_CREDENTIAL = 'gateway';
