export const overview = {
  title: "Overview",
  hashrate: "Hash rate",
  power: "Power",
  efficiency: "Efficiency",
  profit: "Profit per day",
};
