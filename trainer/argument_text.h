// trainer/argument_text.h — arguments as text: to_dict, its JSON, what trackers take, the display form, training_args.json. Secrets are masked in all of them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "trainer/arguments.h"
#include "trainer/fields.h"

namespace rote {

namespace detail {

ValueMap dict_of(const std::vector<ArgumentRow>& rows);
std::string display_of(const std::string& name, std::vector<ArgumentRow> rows);
ValueMap sanitized(ValueMap dict, const TrainingArguments& args);
std::string json_of(const ValueMap& dict);

}  // namespace detail

// All fields of the Hugging Face class of this name, in its order; enums as their words; a secret (its name ends in _token) as <ITS_NAME>.
template <class A>
ValueMap to_dict(const A& args) { return detail::dict_of(rows_of(args)); }

// The same as JSON, indent 2. Floats as Python spells them.
template <class A>
std::string to_json_string(const A& args) { return detail::json_of(to_dict(args)); }

// The same and the sizes of a batch; what is no flag, number or text is Python's text of it.
template <class A>
ValueMap to_sanitized_dict(const A& args) { return detail::sanitized(to_dict(args), args); }

// `TrainingArguments(`, a line `name=value,` a field, sorted, `)`; an enum as IntervalStrategy.NO.
template <class A>
std::string display_text(const A& args) { return detail::display_of(A::kName, rows_of(args)); }

struct RoteArguments;

// training_args.json of a checkpoint: the fields with Rote's own settings under `rote`.
std::string training_args_file(const TrainingArguments& args, const RoteArguments& rote);
// Reads it back. Names that this version does not know are left alone. `who` begins the error text. Throws ArgumentError.
std::pair<TrainingArguments, RoteArguments> parse_training_args_file(const std::string& text, const std::string& who);

}  // namespace rote
