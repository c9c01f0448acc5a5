"use strict";

// Series of [milliseconds, value] as charts, beside the tables that say the same.
for (const place of document.querySelectorAll("[data-chart]")) {
  const series = Object.entries(JSON.parse(place.dataset.chart));
  const times = [...new Set(series.flatMap(([, points]) => points.map(([at]) => at)))].sort((a, b) => a - b);
  if (times.length < 2 || typeof uPlot === "undefined") continue;
  const columns = series.map(([, points]) => {
    const known = new Map(points);
    return times.map((at) => known.get(at) ?? null);
  });
  const style = getComputedStyle(place);
  const colours = ["#1c8a5a", "#b4690e", "#3b6fd4", "#a3399a"];
  const axis = { stroke: style.color, grid: { stroke: "#8884", width: 1 }, ticks: { stroke: "#8884" } };
  const chart = new uPlot({
    width: place.clientWidth, height: 220, axes: [axis, { ...axis, size: 64 }],
    series: [{}, ...series.map(([label], n) => ({ label, stroke: colours[n % colours.length], width: 1.5 }))],
  }, [times.map((at) => at / 1000), ...columns], place);
  addEventListener("resize", () => chart.setSize({ width: place.clientWidth, height: 220 }));
}
