"""The report: one page about a model that opens offline, and runs the model itself.

Modules
-------
class_measures  How good a classifier is on rows that it has not seen.
contents        All that a report says, as one object of plain values.
cost            What a prediction costs here, beside a linear model and others that were measured.
effects         What the model says as one column changes and all others stay as they are.
front           Models that a search has found, their prices, and how to get each of them.
groups          Groups of rows that a model without regions treats alike.
importances     Which columns matter, and how that is known.
made            Where a report comes from: versions, seeds, a hash of the rows, and lines to copy.
page            From the document to one page: everything inside, nothing asked from outside.
region_map      A map of regions: two directions of the encoded rows that set regions apart.
regions         Regions of a model: which of its parts answers for a row.
rows            Raw rows of any table.
sentences       What was asked and what was found, in plain English.
subject         What a report is about: a fitted model, and the rows that judge it.
value_measures  How good a regressor is on rows that it has not seen.
what_if         The model itself, and what the page needs to ask it.
"""
