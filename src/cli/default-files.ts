export const defaultFile = "rigbridge.yaml";
/** That of `rigbridge agent`. */
export const defaultAgentFile = "rigbridge-agent.yaml";
