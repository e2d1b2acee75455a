"use strict";
const figures = JSON.parse(document.getElementById("figures").textContent);
const options = {displaylogo: false, responsive: true, modeBarButtonsToRemove: ["select2d", "lasso2d"]};
const plots = [...document.querySelectorAll(".chart")];
plots.forEach((place, number) => Plotly.newPlot(place, figures[number].data, figures[number].layout, options));
// Paper is narrower than most screens, and plots keep the width they were drawn with.
const PAPER = 680;
addEventListener("beforeprint", () => plots.forEach((place) => {
  if (place.clientWidth > PAPER) Plotly.relayout(place, {width: PAPER});
}));
addEventListener("afterprint", () => plots.forEach((place) => Plotly.relayout(place, {width: null, autosize: true})));
